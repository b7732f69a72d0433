/** The text that replaces a secret. */
export const secretMask = '[secret]';

/** The default key of a sandbox. It is not a secret: the sandbox's help shows it, and it is a word of many texts. */
export const sandboxKey = 'sandbox';

/**
 * Shortest text that is masked as a secret. A shorter one is easily guessed, and is often a word (`none`, `dummy`, `EMPTY` where no key
 * is needed) or part of one: masking it would spoil names and messages and hide nothing.
 */
const leastLength = 8;

/**
 * Shortest credential that is masked in data. A shorter one is found there by chance, and a key that is a word would spoil every
 * response that contains it.
 */
export const leastInData = 16;

/** Removes secrets from a text; a text without secrets is returned unchanged. */
export type Mask = (text: string) => string;

/**
 * Returns the forms of a secret in hex or base64, alone or inside a longer text. Base64 writes three bytes as four characters, so there
 * are three forms, by the number of bytes before the secret. Characters at both ends that depend on the neighbours are left out.
 */
function encodedForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const forms = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor((whole.length * 8) / 6);
    return [whole.toString('base64').slice(from, to), whole.toString('base64url').slice(from, to)];
  });
  return [hex, hex.toUpperCase(), bytes.toString('base64'), ...forms];
}

/** Returns the forms of a secret in a text: plain, in JSON, in an address, in CSV, as hex, as base64. */
function formsOf(secret: string): readonly string[] {
  if (secret.length < leastLength || secret === sandboxKey) return [];
  const encoded = encodeURIComponent(secret.toWellFormed());
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encoded,
    encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    secret.replaceAll('"', '""'),
    // A host name comes back from `URL` in lower case.
    secret.toLowerCase(),
    ...encodedForms(secret),
  ];
}

/**
 * Returns a mask for data that is kept and sent on (answers, links, names of buttons): a service may repeat a credential there, but
 * ordinary words must stay.
 */
export const dataMaskOf = (credentials: Iterable<string>): Mask =>
  secretMaskOf([...credentials].filter(({ length }) => length >= leastInData));

/** Returns the texts that the mask of {@link dataMaskOf} removes for these credentials; none is shorter than {@link leastInData}. */
export const formsInData = (credentials: Iterable<string>): readonly string[] => [
  ...new Set([...credentials].filter(({ length }) => length >= leastInData).flatMap(formsOf)),
];

/** Returns a mask for these secrets. A secret that contains another one is replaced as a whole. */
export function secretMaskOf(secrets: Iterable<string>): Mask {
  const forms = [...new Set([...secrets].flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const shortest = forms.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  return (text) =>
    text.length < shortest ? text : forms.reduce((result, form) => result.replaceAll(form, secretMask), text);
}
