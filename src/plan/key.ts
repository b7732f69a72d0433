import { hash } from 'node:crypto';
import { canonicalJson, type Value } from '../pipeline/values/value.ts';
import type { JobRequest } from './job-request.ts';

/** Version of the rules below. A new version orphans every finished job, so it requires a migration. */
const identityVersion = 1;

/** Hexadecimal characters of a key: 128 bits, so that 10^9 jobs collide with a probability of about 10^-21. */
const keyLength = 32;

/**
 * Everything that determines a job's result, and nothing else. Two jobs with equal identities are one job, paid once.
 *
 * The result does not depend on these, so they are not included: the place in the file or in the matrix, the order of axes, variables
 * that the request does not use, speed, limits, credentials, `keep`, `when`, and whether a selector is optional.
 */
export interface JobIdentity {
  /** Version of the rules, so that keys of other versions differ. */
  readonly version: typeof identityVersion;
  /** The service, by its origin or `service.id`: another service makes another image from the same prompt. */
  readonly service: string;
  /**
   * The rendered request. Its kind, because the same words mean something else to another operation. The fields that the pipeline
   * declares, because a new default in a release must not change a key. `extra`, which is part of the same body. All alternatives of a
   * button in order, because `U1 | Foo` differs from `U1` if U1 is not offered. The images in order, by content: a file's hash, an
   * address as declared, the key of the job that made it; likewise a mask, by its file's hash or its shapes, and whether it is inverted.
   * For a text job also the key of the job whose turns come before. `stream` and `accept` are not included.
   */
  readonly request: JobRequest;
  /**
   * Keys of the jobs it continues, in order: pressing U1 on another grid is another job, and the order of images in a blend counts.
   * Absent for a root.
   */
  readonly inputs?: readonly string[];
  /**
   * Number of a repeat, which asks for a new result of the same request. Only for a root (jobs below differ by their inputs) and only
   * above 1, so that a later `repeat: 2` keeps the first results.
   */
  readonly repeat?: number;
}

/** Makes the identity of a request. Only this function decides which members are left out. */
export function identityOf(
  service: string,
  request: JobRequest,
  inputs: readonly string[],
  repeat: number,
): JobIdentity {
  return {
    version: identityVersion,
    service,
    request,
    ...(inputs.length > 0 ? { inputs } : repeat > 1 ? { repeat } : {}),
  };
}

/**
 * Returns the key of an identity: its canonical JSON as lower-case hex SHA-256, cut to 32 characters. Members are sorted by name, without
 * white space; absent members are left out. For example
 * `{"request":{"fields":{"prompt":"a fox"},"kind":"imagine"},"service":"https://example.com","version":1}`.
 */
export function jobKey(identity: JobIdentity): string {
  return keyFromText(
    requestText(identity.request),
    identity.service,
    identity.inputs ?? [],
    identity.repeat ?? 1,
  );
}

/** Whether a text has the form of a {@link jobKey}. */
export const isJobKey = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** Returns the canonical JSON of a request, for {@link keyFromText}. For most requests of a plan it is constant. */
export const requestText = (request: JobRequest): string => canonicalJson(request as Value & JobRequest);

/** Returns the {@link jobKey} of a request from its canonical JSON. */
export function keyFromText(
  request: string,
  service: string,
  inputs: readonly string[],
  repeat: number,
): string {
  const origin =
    inputs.length > 0 ? `"inputs":${JSON.stringify(inputs)},` : repeat > 1 ? `"repeat":${repeat},` : '';
  return cut(
    `{${origin}"request":${request},"service":${JSON.stringify(service)},"version":${identityVersion}}`,
  );
}

/** Returns the identity of a combination of values, independent of its number; see {@link slotId}. */
export const cellIdentity = (vars: Readonly<Record<string, Value>>, repeat: number): string =>
  cut(canonicalJson({ repeat, vars }));

/** Returns the {@link slotId} for a cell's identity and the JSON of step and branch names. */
const slotIdIn = (cell: string, place: string): string => cut(`${cell}${place}`);

/**
 * Returns a function for the {@link slotId}s of one cell, by place. The variables are hashed on the first call, because most slots never
 * need an id.
 */
export function slotIdsOf(vars: Readonly<Record<string, Value>>, repeat: number): (place: string) => string {
  let cell: string | undefined;
  return (place) => {
    cell ??= cellIdentity(vars, repeat);
    return slotIdIn(cell, place);
  };
}

/** Returns the JSON of step and branch names, for {@link slotIdIn}. */
export const placeText = (step: string, branch: readonly string[]): string =>
  JSON.stringify([step, ...branch]);

/**
 * Returns the identity of a slot, independent of its request: from step, branch, variables and repeat, but not from the cell's number,
 * which changes when the matrix is edited. It distinguishes a changed slot from a new one in the state.
 */
export const slotId = (
  step: string,
  branch: readonly string[],
  vars: Readonly<Record<string, Value>>,
  repeat: number,
): string => slotIdIn(cellIdentity(vars, repeat), placeText(step, branch));

const cut = (text: string): string => hash('sha256', text, 'hex').slice(0, keyLength);
