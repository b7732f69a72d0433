/** What stands in the place of a secret. */
export const secretMask = '[secret]';

/** The key of a sandbox that was given none: its help shows it, so it is no secret, and it is a word of many texts. */
export const sandboxKey = 'sandbox';

/**
 * What is shorter is no secret: it is guessed at once, and is often a word (`none`, `dummy`, `EMPTY` where no key is needed) or part of
 * one, so that masking it would spoil names and messages and hide nothing.
 */
const leastLength = 8;

/**
 * Shorter credentials are not looked for in data: a word is found in them by chance, and a key that is a word would spoil
 * every response that has it.
 */
export const leastInData = 16;

/** Removes secrets from a text; a text without secrets is returned unchanged. */
export type Mask = (text: string) => string;

/**
 * How a secret stands in texts that are encoded as hex or base64, by itself or inside of something longer: base64 writes three
 * bytes as four characters, so that there are three ways, by how many bytes stand before it. The characters at both ends that
 * depend on what stands beside it are left out.
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

/** The forms of a secret in a text: as it is, in JSON, in an address, in CSV, as hex, as base64. */
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
 * A mask for what is kept as data and sent on (answers, links, names of buttons): a service may repeat a credential there,
 * but an ordinary word is to stay what it is.
 */
export const dataMaskOf = (credentials: Iterable<string>): Mask =>
  secretMaskOf([...credentials].filter(({ length }) => length >= leastInData));

/** The texts that {@link dataMaskOf} the same credentials takes out; none of them is shorter than {@link leastInData}. */
export const formsInData = (credentials: Iterable<string>): readonly string[] => [
  ...new Set([...credentials].filter(({ length }) => length >= leastInData).flatMap(formsOf)),
];

/** A mask for these secrets. A secret that holds another one goes as a whole. */
export function secretMaskOf(secrets: Iterable<string>): Mask {
  const forms = [...new Set([...secrets].flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const shortest = forms.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  return (text) =>
    text.length < shortest ? text : forms.reduce((result, form) => result.replaceAll(form, secretMask), text);
}
