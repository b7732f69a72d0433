/** HTTP statuses, each alone or as the first and last of a range. */
export type Statuses = readonly (number | readonly [number, number])[];

/**
 * The statuses after which a request is sent again, and the 5xx after which it is not, for every kind of server: gateways
 * (`service/failures/table.ts`), hosts of links, buckets, hooks and proxies. A test compares the documents with this table.
 */
export const statuses = {
  /** The server did nothing. 425: the request came in early data and may be a replay (RFC 8470). 529: overload, at some vendors. */
  untouched: [425, 503, 529],
  throttled: [429],
  /** The work may be done all the same (gateway 8.2). */
  perhapsDone: [408, 500, 502, 504, [520, 524]],
  unsupported: [501, 505],
  /** The disk of the server is full. */
  full: [507],
  /** Sent again for a file that is paid for, besides every 5xx: answers of some caches while they fill. */
  filling: [204, 206],
} as const satisfies Readonly<Record<string, Statuses>>;

/** Whether a status is one of these. */
export const isOneOf = (those: Statuses, status: number): boolean =>
  those.some((of) => (typeof of === 'number' ? of === status : status >= of[0] && status <= of[1]));

/** Whether any kind of server may answer the same request differently a little later. */
export const isPassingStatus = (status: number): boolean =>
  status >= 500
    ? !isOneOf([...statuses.unsupported, ...statuses.full], status)
    : isOneOf([...statuses.untouched, ...statuses.throttled, ...statuses.perhapsDone], status);
