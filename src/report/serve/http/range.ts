/** Bytes of a file, the last one included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * What a `Range` header asks for (RFC 9110, 14.2). Undefined: the whole file, also where the header is of a kind that is not known or asks
 * for several parts; `none`: nothing that the file has.
 */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'none' : { from: bytes - length, to: bytes - 1 };
  }
  const from = Number(first);
  const to = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= bytes ? 'none' : { from, to };
}
