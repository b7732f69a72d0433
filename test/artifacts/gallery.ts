import sharp, { type Sharp } from 'sharp';

/** A picture with some detail, so that its file is longer than its headers. */
function pixels(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(width * height * 3);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 7919 + (at >> 5) * 31) & 0xff;
  return bytes;
}

const picture = (width: number, height: number): Sharp =>
  sharp(pixels(width, height), { raw: { width, height, channels: 3 } });

/** Real files of every format that is accepted, by a name for the test. */
export const gallery: Readonly<Record<string, (width: number, height: number) => Promise<Buffer>>> = {
  png: (width, height) => picture(width, height).png().toBuffer(),
  'png with a palette': (width, height) => picture(width, height).png({ palette: true }).toBuffer(),
  jpeg: (width, height) => picture(width, height).jpeg().toBuffer(),
  'jpeg, progressive, with metadata': (width, height) =>
    picture(width, height)
      .jpeg({ progressive: true })
      .withExif({ IFD0: { ImageDescription: 'x'.repeat(5000) } })
      .toBuffer(),
  'webp, lossy': (width, height) => picture(width, height).webp().toBuffer(),
  'webp, lossless': (width, height) => picture(width, height).webp({ lossless: true }).toBuffer(),
  'webp, extended': (width, height) =>
    picture(width, height)
      .webp()
      .withExif({ IFD0: { ImageDescription: 'a fox' } })
      .toBuffer(),
  gif: (width, height) => picture(width, height).gif().toBuffer(),
  avif: (width, height) => picture(width, height).avif({ effort: 0 }).toBuffer(),
};

/** The extension and the type that a file of the gallery is saved under. */
export const expected = (name: string): { extension: string; mime: string } => {
  const format = name.split(/[ ,]/)[0] ?? '';
  return { extension: format === 'jpeg' ? 'jpg' : format, mime: `image/${format}` };
};
