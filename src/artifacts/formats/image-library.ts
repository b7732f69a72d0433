import { createRequire } from 'node:module';
import type { default as Library, Sharp, SharpInput, SharpOptions } from 'sharp';

/**
 * The error for a missing image library, which decodes and draws images. Its native part is an optional package for each platform: `npm
 * install --omit=optional` leaves it out, some platforms have none, and some machines cannot load it.
 */
export class ImageLibraryError extends Error {
  /** What to do about it. */
  readonly hint: string;

  constructor(cause: unknown) {
    const lines = cause instanceof Error ? cause.message.split('\n') : [];
    // After a headline, sharp lists why each part could not be loaded, except for missing ones.
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
 * Loads the image library on first use: most commands do not need it, loading takes a tenth of a second, and it may be missing.
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
