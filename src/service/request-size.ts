/** The part of a request that takes the most room, and how much the whole takes, in words: what to make smaller. */
export function largestPart(fields: Readonly<Record<string, unknown>>): string | undefined {
  const sizes = Object.entries(fields).map(([name, value]) => ({ name, bytes: sizeOf(value) }));
  const [largest] = sizes.sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined) return undefined;
  return `the request has ${amount(sizeOf(fields))}, ${amount(largest.bytes)} of them in "${largest.name}"`;
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

function amount(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
