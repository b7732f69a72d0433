import { createRequire } from 'node:module';
import type { default as Library, Sharp, SharpInput, SharpOptions } from 'sharp';

/**
 * The library that decodes and draws images cannot be used. Its native part is a package of its own for each platform, an optional
 * one: `npm install --omit=optional` leaves it out, there is none for some platforms, and some machines cannot load it.
 */
export class ImageLibraryError extends Error {
  /** What to do about it. */
  readonly hint: string;

  constructor(cause: unknown) {
    const lines = cause instanceof Error ? cause.message.split('\n') : [];
    // Behind a headline, sharp says why each part could not be loaded, but for those that are not there.
    const end = lines.indexOf('Possible solutions:');
    const why = lines.slice(1, Math.max(1, end)).join(' ').slice(0, 300);
    super(
      `Images can be neither drawn nor decoded here: the native part of the package sharp ${why === '' ? 'is not installed' : `cannot be loaded (${why})`}.`,
      { cause },
    );
    this.name = 'ImageLibraryError';
    const wasm = 'npm install @img/sharp-wasm32';
    this.hint =
      why === ''
        ? `Install it: npm install --include=optional sharp. If that does not help: ${wasm}`
        : `Install the part that needs no native code: ${wasm}`;
  }
}

const require = createRequire(import.meta.url);
let loaded: typeof Library | undefined;

/**
 * Loaded when an image is decoded or drawn, and not before: most commands do neither, it takes a tenth of a second, and it may be missing.
 *
 * @throws ImageLibraryError
 */
export function imageLibrary(): typeof Library {
  try {
    loaded ??= require('sharp') as typeof Library;
  } catch (cause) {
    throw new ImageLibraryError(cause);
  }
  return loaded;
}

/** `sharp(input, options)`. @throws ImageLibraryError */
export const sharp = (input: SharpInput, options?: SharpOptions): Sharp => imageLibrary()(input, options);
