import { createHash } from 'node:crypto';
import { shownS3Address } from './address.ts';
import type { S3Client } from './client.ts';
import { namesUnder } from './list.ts';

/** Name of the object that says which run owns a place. Hidden, so that programs that read the place as a data set ignore it. */
export const ownerName = '.promptpress.json';

/** The run that owns a place in a bucket. */
export interface Owner {
  /** Permanent id of the run directory. */
  readonly id: string;
  /** Name of the pipeline, for people who find the object. */
  readonly pipeline: string;
}

/** Why a place cannot be claimed, and what to do. */
export interface Refused {
  readonly message: string;
  readonly hint: string;
}

export interface Claimed {
  /** Whether the store obeys the condition of a write, so that a late write replaces nothing. */
  readonly honoursConditions: boolean;
}

/**
 * Claims a place for a run, or finds that the run owns it: an object names the owner. Two runs in one place would replace each other's
 * manifest. Writing and reading the object proves, before anything is paid, that the store, the bucket and the keys are right.
 *
 * @throws SaveError
 */
export async function claimPlace(client: S3Client, owner: Owner): Promise<Claimed | Refused> {
  const place = shownS3Address(client.address);
  const before = await readOwner(client);
  if (before === undefined) {
    for await (const name of namesUnder(client, ''))
      return {
        message: `${place} is not empty: ${JSON.stringify(name)} lies there, and no run of promptpress owns the place.`,
        hint: 'A run would replace and remove objects there, and nothing was touched. Take a prefix of its own.',
      };
  }
  const text = Buffer.from(`${JSON.stringify({ promptpress: owner })}\n`);
  const write = (): Promise<boolean> => writeOwner(client, text);
  const isNew = before === undefined && (await write());
  const found = isNew ? owner : (before ?? (await readOwner(client)));
  if (found?.id !== owner.id)
    return {
      message: `${place} belongs to another run${found?.pipeline ? `, of the pipeline "${found.pipeline}"` : ''}.`,
      hint: `Take another prefix, or continue that run in its own run directory. If its directory is gone for good, remove ${place}/${ownerName} and move the results away from there.`,
    };
  // The object exists, so a store that obeys the condition does not write a second one.
  return { honoursConditions: !(await write()) };
}

/** @returns whether it was written */
async function writeOwner(client: S3Client, body: Buffer): Promise<boolean> {
  const { problem } = await client.ask({
    method: 'PUT',
    name: ownerName,
    headers: {
      'content-type': 'application/json',
      'if-none-match': '*',
      'x-amz-meta-sha256': createHash('sha256').update(body).digest('hex'),
    },
    body,
    doing: `write "${ownerName}"`,
    accepts: ({ status, code }) =>
      status === 412 || code === 'PreconditionFailed' || status === 501 || code === 'NotImplemented',
  });
  if (problem === undefined) return true;
  if (problem.status === 412 || problem.code === 'PreconditionFailed') return false;
  // The store does not know such conditions.
  await client.ask({ method: 'PUT', name: ownerName, body, doing: `write "${ownerName}"` });
  return true;
}

async function readOwner(client: S3Client): Promise<Owner | undefined> {
  const { body, problem, isTooLarge } = await client.ask({
    method: 'GET',
    name: ownerName,
    doing: `read "${ownerName}"`,
    maxBytes: 65_536,
    accepts: ({ status }) => status === 404,
  });
  if (problem !== undefined) return undefined;
  try {
    const { promptpress } = JSON.parse(isTooLarge ? '' : body.toString()) as {
      promptpress?: Readonly<Record<keyof Owner, unknown>>;
    };
    const { id = '', pipeline = '' } = promptpress ?? {};
    return { id: String(id), pipeline: shown(String(pipeline)) };
  } catch {
    return { id: '', pipeline: '' };
  }
}

const shown = (name: string): string => name.replaceAll(/[^\w .-]/g, '').slice(0, 80);
