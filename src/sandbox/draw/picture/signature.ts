import type { Drawing } from '../canvas/drawing.ts';

/** What a picture of the sandbox says of itself, so that a later description can name it. */
export interface Signature {
  /** The words it was drawn from. */
  readonly text: string;
}

const opening = 'promptpress sandbox ';

/** As an EXIF text; ASCII, whatever the words are written in. */
export function signatureOf({ frames }: Drawing): string {
  const text = (frames[0]?.text ?? '').slice(0, 4000);
  const json = JSON.stringify({ text } satisfies Signature).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${opening}${json}`;
}

/** Reads it back from an image's EXIF block; undefined where the image is not the sandbox's. */
export function readSignature(exif: Buffer | undefined): Signature | undefined {
  const block = exif?.toString('latin1') ?? '';
  const at = block.indexOf(`${opening}{`);
  if (at < 0) return undefined;
  const end = block.indexOf('\0', at);
  try {
    const value: unknown = JSON.parse(block.slice(at + opening.length, end < 0 ? undefined : end));
    const text = (value as Partial<Signature> | null)?.text;
    return typeof text === 'string' ? { text: text.slice(0, 4000) } : undefined;
  } catch {
    // Somebody has edited it: it says nothing any more.
    return undefined;
  }
}
