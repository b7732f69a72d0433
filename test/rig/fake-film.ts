const box = (name: string, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, body]);
};

/** The boxes of an MP4 with one track and no picture in it: the same bytes for the same arguments. */
export function makeFilm(seed: number, width = 8, height = 8): Buffer {
  const header = Buffer.alloc(84);
  // A matrix that turns nothing, then the size, in 65536ths.
  for (const [at, value] of [
    [40, 0x1_0000],
    [56, 0x1_0000],
    [72, 0x4000_0000],
    [76, width * 65_536],
    [80, height * 65_536],
  ] as const)
    header.writeUInt32BE(value, at);
  const data = Buffer.alloc(8);
  data.writeUInt32BE(seed >>> 0, 4);
  return Buffer.concat([
    box('ftyp', Buffer.from('mp42\0\0\0\0mp42isom', 'latin1')),
    box('moov', box('trak', box('tkhd', header))),
    box('mdat', data),
  ]);
}
