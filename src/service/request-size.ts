/** The part of a request that takes the most room, and how much the whole takes, in words: what to make smaller. */
export function largestPart(fields: Readonly<Record<string, unknown>>): string | undefined {
  const sizes = Object.entries(fields).map(([name, value]) => ({ name, bytes: sizeOf(value) }));
  // Part by part: as one text they may be longer than a text can be. A colon and a comma go with each.
  const whole = sizes.reduce((sum, { name, bytes }) => sum + sizeOf(name) + bytes + 2, 1);
  const [largest] = sizes.sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined) return undefined;
  return `the request has ${amount(whole)}, ${amount(largest.bytes)} of them in "${largest.name}"`;
}

const sizeOf = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) + 2 : Buffer.byteLength(JSON.stringify(value) ?? '');

/** A number of bytes in words. */
export function amount(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
