/** The flags of a prompt that the sandbox follows; it ignores all others. */
export interface PromptFlags {
  /** The model version: `6.1`, or `niji 6`. */
  readonly version?: string;
  readonly seed?: string;
  /** Width and height of `--ar`; default 1 and 1. */
  readonly aspect: readonly [number, number];
  /** 0 to 1000; default 100. */
  readonly stylize: number;
  /** 0 to 100: how much the four frames of a grid differ. */
  readonly chaos: number;
  /** 0 to 3000. */
  readonly weird: number;
}

/** The words and the flags of a prompt. `error` is the failReason of its task if a flag is invalid. */
export interface ParsedPrompt {
  readonly text: string;
  readonly flags: PromptFlags;
  readonly error?: string;
}

/** The versions whose buttons the sandbox knows (gateway 5.3). */
const versions = new Set(['1', '2', '3', '4', '5', '5.1', '5.2', '6', '6.1', '7', '8']);
const nijiVersions = new Set(['4', '5', '6', '7']);

/** Largest ratio of the longer side to the shorter one. */
const widest = 4;

const aliases: Readonly<Record<string, string>> = {
  v: 'version',
  s: 'stylize',
  c: 'chaos',
  w: 'weird',
  ar: 'aspect',
};

const plainVersion = (text: string): string => text.replace(/\.0$/, '');

/**
 * Splits a prompt into its text and its flags, as leniently as the real parser: the last of equal flags counts, a long dash counts as
 * two short ones, and unknown flags are ignored.
 */
export function parsePrompt(prompt: string, niji = false): ParsedPrompt {
  const [text = '', ...parts] = prompt
    .replaceAll(/(^|\s)[—–](?=[a-z])/giu, '$1--')
    .split(/(?:^|\s)--(?=[a-z])/iu);
  const given = new Map<string, string>();
  for (const part of parts) {
    const [, name = '', value = ''] = /^([a-z]+)\s*([^]*)/iu.exec(part.trim()) ?? [];
    const word = name.toLowerCase();
    given.set(aliases[word] ?? word, value.trim());
    // The later of --v and --niji decides.
    if (word === 'niji') given.delete('version');
    else if (word === 'v' || word === 'version') given.delete('niji');
  }
  const errors: string[] = [];
  const version = readVersion(given, niji, errors);
  const flags: PromptFlags = {
    ...(version === undefined ? {} : { version }),
    ...readSeed(given.get('seed'), errors),
    aspect: readAspect(given.get('aspect'), errors),
    stylize: readNumber('stylize', given.get('stylize'), 0, 1000, 100, errors),
    chaos: readNumber('chaos', given.get('chaos'), 0, 100, 0, errors),
    weird: readNumber('weird', given.get('weird'), 0, 3000, 0, errors),
  };
  const error = errors[0];
  return { text: text.trim(), flags, ...(error === undefined ? {} : { error }) };
}

function refuse(name: string, value: string, expected: string): string {
  return `[Invalid parameter] Invalid value provided for argument --${name}: got \`${value.slice(0, 40)}\`, expected ${expected}`;
}

function readVersion(
  given: ReadonlyMap<string, string>,
  niji: boolean,
  errors: string[],
): string | undefined {
  const nijiValue = given.get('niji') ?? (niji && !given.has('version') ? '' : undefined);
  if (nijiValue !== undefined) {
    const version = nijiValue === '' ? '6' : plainVersion(nijiValue);
    if (nijiVersions.has(version)) return `niji ${version}`;
    errors.push(refuse('niji', nijiValue, [...nijiVersions].join(', ')));
    return undefined;
  }
  const value = given.get('version');
  if (value === undefined) return undefined;
  const version = plainVersion(value);
  if (versions.has(version)) return version;
  errors.push(refuse('version', value, [...versions].join(', ')));
  return undefined;
}

function readSeed(value: string | undefined, errors: string[]): { readonly seed?: string } {
  if (value === undefined) return {};
  if (/^\d{1,10}$/.test(value) && Number(value) <= 4_294_967_295) return { seed: String(Number(value)) };
  errors.push(refuse('seed', value, 'a whole number from 0 to 4294967295'));
  return {};
}

function readAspect(value: string | undefined, errors: string[]): readonly [number, number] {
  if (value === undefined) return [1, 1];
  const [, first, second] = /^(\d{1,5})\s*[:x]\s*(\d{1,5})$/.exec(value) ?? [];
  const [width, height] = [Number(first), Number(second)];
  if (width > 0 && height > 0 && width / height <= widest && height / width <= widest) return [width, height];
  errors.push(refuse('ar', value, `a ratio such as 3:2, not beyond ${widest}:1`));
  return [1, 1];
}

function readNumber(
  name: string,
  value: string | undefined,
  low: number,
  high: number,
  usual: number,
  errors: string[],
): number {
  if (value === undefined) return usual;
  const number = value === '' ? Number.NaN : Number(value);
  if (number >= low && number <= high) return number;
  errors.push(refuse(name, value, `a number from ${low} to ${high}`));
  return usual;
}
