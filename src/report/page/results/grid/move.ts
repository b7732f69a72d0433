interface Shape {
  readonly total: number;
  readonly columns: number;
  /** Results that a window shows. */
  readonly perPage: number;
}

/** Where a key moves to among the results, or nothing where it moves to no other one. */
export function moved(key: string, from: number, { total, columns, perPage }: Shape): number | undefined {
  const last = total - 1;
  const to = {
    ArrowRight: from + 1,
    ArrowLeft: from - 1,
    ArrowDown:
      from + columns > last && Math.floor(last / columns) > Math.floor(from / columns)
        ? last
        : from + columns,
    ArrowUp: from - columns,
    PageDown: Math.min(last, from + perPage),
    PageUp: Math.max(0, from - perPage),
    Home: 0,
    End: last,
  }[key];
  return to !== undefined && to >= 0 && to <= last ? to : undefined;
}
