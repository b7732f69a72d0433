/** What can be hostile. */
export const kinds = [
  'pipeline',
  'table',
  'selector',
  'template',
  'arguments',
  'name',
  'path',
  'git',
  'repository',
  'engine',
  'stream',
  'answer',
  'schema',
  'task',
  'click',
  'mask',
] as const;

export type Kind = (typeof kinds)[number];

/** The variable with the address of a PostgreSQL for inputs that need one, whose user may create databases. */
export const serverVariable = 'PROMPTPRESS_TEST_POSTGRES';

/** A stretch of an input. Repetition is written as such, so that a line of 100 MB is a small thing to keep and to shrink. */
export interface Piece {
  readonly text: string;
  readonly times: number;
  /** How the text becomes bytes; UTF-8 if not said. */
  readonly encoding?: 'latin1' | 'utf16le';
}

/** One hostile input, small enough to be printed, whatever its size. */
export interface Input {
  readonly kind: Kind;
  /** Which reader of the kind it is for: `csv`, `address`, `condition`, a command, … */
  readonly form: string;
  /** Of `arguments` each piece is an argument; else they stand one behind the other. */
  readonly pieces: readonly Piece[];
  /** Bytes that the file port delivers at once; 0: as the pieces are. */
  readonly chunk: number;
}

/** What a generator draws; the kind is known by who asked it. */
export type Draft = Omit<Input, 'kind' | 'chunk'> & { readonly chunk?: number };

export const piece = (text: string, times = 1): Piece => ({ text, times });

export const draft = (form: string, ...texts: readonly (string | Piece)[]): Draft => ({
  form,
  pieces: texts.map((text) => (typeof text === 'string' ? piece(text) : text)),
});

/** The whole input as text. Only for kinds whose generators stay small. */
export const textOf = ({ pieces }: Pick<Input, 'pieces'>): string =>
  pieces.map(({ text, times }) => text.repeat(times)).join('');

export const bytesOf = ({ text, encoding }: Piece): Buffer => Buffer.from(text, encoding ?? 'utf8');

const block = 64 * 1024;

/** The input's bytes, made as they are asked for: the harness holds no more than a block of a large one. */
export async function* streamOf({ pieces, chunk }: Pick<Input, 'pieces' | 'chunk'>): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    const once = bytesOf(piece);
    if (once.length === 0) continue;
    const together = Math.max(1, Math.min(piece.times, Math.floor(block / once.length)));
    const many = Buffer.alloc(together * once.length, once);
    for (let left = piece.times; left > 0; left -= together) {
      const bytes = left >= together ? many : many.subarray(0, left * once.length);
      // Not less than a hundredth of what there is: one byte at a time is for small inputs.
      const step = chunk === 0 ? bytes.length : Math.max(chunk, Math.ceil(bytes.length / 100));
      for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
    }
  }
}

/** The input as JSON, cut: what a finding prints. */
export function show(input: Input): string {
  const text = JSON.stringify(input);
  return text.length <= 2000 ? text : `${text.slice(0, 2000)}… (${text.length} characters)`;
}
