import { hash } from 'node:crypto';
import { canonicalJson, type Value } from '../pipeline/values/value.ts';
import type { JobRequest } from './job-request.ts';

/** Version of the rules below. A new one makes every finished job a stranger, so it changes only with a migration. */
const identityVersion = 1;

/** Hexadecimal characters of a key: 128 bits, so that 10^9 jobs collide with a chance of about 10^-21. */
const keyLength = 32;

/**
 * What determines a job's result, and nothing else. Two jobs with equal identities are one
 * job, paid once.
 *
 * Not in it, because the result does not depend on them: the place in the file or in the matrix, the order of axes,
 * variables that the request does not use, speed, limits, credentials, `keep`, `when`, and whether a selector is
 * optional.
 */
export interface JobIdentity {
  /** Keys made by other rules must never be taken for these. */
  readonly version: typeof identityVersion;
  /** Another service draws another image from the same words; its origin, or what `service.id` says. */
  readonly service: string;
  /**
   * What is asked for, rendered: its kind (the same words mean something else to another operation), the fields that
   * the pipeline declares (a default that a release adds must not change a key), `extra` (it goes into the same
   * body), and what is pressed, all alternatives in order (`U1 | Foo` asks for something else than `U1` where
   * U1 is not offered); what it shows, in order, by content: a file's hash, an address as declared, the key of the job that
   * made it; a mask likewise, by its file's hash or by its shapes, and whether it is inverted. Of a text job also the key of
   * the job whose turns come before. How its reply comes (`stream`) and which
   * ends of it are accepted (`accept`) are not in it.
   */
  readonly request: JobRequest;
  /**
   * Keys of the jobs it continues, in order: pressing U1 on another grid is another job, and the order of images in
   * a blend matters. Absent for a root.
   */
  readonly inputs?: readonly string[];
  /**
   * The same request asked once more wants a new result. Only of a root (all below it differ by their inputs
   * already) and only above 1, so that `repeat: 2` added later keeps the first results.
   */
  readonly repeat?: number;
}

/** The identity of a request; the one place that knows which members are left out. */
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
 * Lower-case hex SHA-256, cut to 32 characters, of the identity as canonical JSON in UTF-8: members sorted by name,
 * no white space, absent members left out. For example
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

/** True for a text of the form of a {@link jobKey}. */
export const isJobKey = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** Canonical JSON of a request, for {@link keyFromText}: of most requests of a plan it never changes. */
export const requestText = (request: JobRequest): string => canonicalJson(request as Value & JobRequest);

/** {@link jobKey} of a request whose canonical JSON is at hand. */
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

/** Identity of a combination of values, independent of its number; see {@link slotId}. */
export const cellIdentity = (vars: Readonly<Record<string, Value>>, repeat: number): string =>
  cut(canonicalJson({ repeat, vars }));

/** {@link slotId} of a slot whose cell's identity is at hand; `place` is the JSON of step and branch names. */
const slotIdIn = (cell: string, place: string): string => cut(`${cell}${place}`);

/**
 * {@link slotId} of the slots of one cell, by their places. Few slots are asked for their ids, so the variables are hashed when the
 * first one is.
 */
export function slotIdsOf(vars: Readonly<Record<string, Value>>, repeat: number): (place: string) => string {
  let cell: string | undefined;
  return (place) => {
    cell ??= cellIdentity(vars, repeat);
    return slotIdIn(cell, place);
  };
}

/** JSON of step and branch names, for {@link slotIdIn}. */
export const placeText = (step: string, branch: readonly string[]): string =>
  JSON.stringify([step, ...branch]);

/**
 * Identity of a slot, independent of its request: step, branch, variables and repeat (not the cell's number, which moves
 * when the matrix is edited). It distinguishes a changed slot from a new one in the state.
 */
export const slotId = (
  step: string,
  branch: readonly string[],
  vars: Readonly<Record<string, Value>>,
  repeat: number,
): string => slotIdIn(cellIdentity(vars, repeat), placeText(step, branch));

const cut = (text: string): string => hash('sha256', text, 'hex').slice(0, keyLength);
