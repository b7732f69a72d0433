import { createRequire } from 'node:module';
import type { default as Library, Sharp, SharpInput, SharpOptions } from 'sharp';

/**
 * The library that decodes and draws images cannot be used. Its native part is a package of its own for each platform, an optional
 * one: `npm install --omit=optional` leaves it out, and there is none for some platforms.
 */
export class ImageLibraryError extends Error {
  /** What to do about it. */
  readonly hint =
    'Install it: npm install --include=optional sharp. If that does not help: npm install @img/sharp-wasm32';

  constructor(cause: unknown) {
    super(
      'Images can be neither drawn nor decoded here: the native part of the package sharp is not installed.',
      { cause },
    );
    this.name = 'ImageLibraryError';
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
