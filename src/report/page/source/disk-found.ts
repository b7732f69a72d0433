import type { Columns } from './columns.ts';
import type { Found } from './source.ts';

/** Matches among results that are all in memory. */
export function diskFound(columns: Columns, ats: Uint32Array): Found {
  return {
    total: ats.length,
    result: (position) => {
      const at = ats[position];
      return at === undefined ? undefined : columns.result(at);
    },
    want: () => undefined,
    positionOf: (at) => ats.indexOf(at),
    cellOf: (position) => columns.cell[ats[position] as number] as number,
  };
}
