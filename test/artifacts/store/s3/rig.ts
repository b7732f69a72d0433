import { Agent } from 'undici';
import { onTestFinished } from 'vitest';
import { SaveError } from '../../../../src/artifacts/failure.ts';
import type { S3Address } from '../../../../src/artifacts/store/s3/address.ts';
import {
  S3Client,
  type S3ClientOptions,
  type StoreClock,
} from '../../../../src/artifacts/store/s3/client.ts';
import { openS3Artifacts } from '../../../../src/artifacts/store/s3/s3-store.ts';
import { readS3Settings } from '../../../../src/artifacts/store/s3/settings.ts';
import type { ArtifactStore } from '../../../../src/artifacts/store/store.ts';
import { type FakeS3, type FakeS3Options, startFakeS3 } from '../../../rig/s3/fake-s3.ts';
import { freshFolder } from '../../places.ts';

/** Waits end at once, and are counted. */
export class QuickClock implements StoreClock {
  readonly waits: number[] = [];
  #now = Date.now();

  now(): number {
    return this.#now;
  }

  at(atMs: number, call: () => void): () => void {
    this.waits.push(atMs - this.#now);
    this.#now = Math.max(this.#now, atMs);
    const immediate = setImmediate(call);
    return () => clearImmediate(immediate);
  }

  /** Sets the clock another way. */
  move(ms: number): void {
    this.#now += ms;
  }
}

export interface S3Rig {
  readonly fake: FakeS3;
  readonly clock: QuickClock;
  readonly client: S3Client;
  /** The run directory. */
  readonly directory: string;
  /** Each call is the next run over the same bucket. */
  readonly open: () => ArtifactStore;
}

export const address: S3Address = { bucket: 'pictures', prefix: 'a run/é+1' };

/** A fake server, and a store over it. */
export async function openRig(
  options: FakeS3Options = {},
  own: Partial<S3ClientOptions> = {},
): Promise<S3Rig> {
  const clock = new QuickClock();
  const fake = await startFakeS3({ now: () => clock.now(), ...options });
  const dispatcher = new Agent();
  const client = await S3Client.open({
    address,
    settings: readS3Settings(address, fake.env),
    dispatcher,
    clock,
    random: () => 0.5,
    patienceMs: 180_000,
    signal: new AbortController().signal,
    ...own,
  });
  onTestFinished(async () => {
    client.close();
    await dispatcher.destroy();
    await fake[Symbol.asyncDispose]();
  });
  const directory = freshFolder();
  return { fake, clock, client, directory, open: () => openS3Artifacts(client, directory) };
}

/** Stores a file of these bytes. */
export async function putBytes(store: ArtifactStore, name: string, bytes: Buffer): Promise<void> {
  const file = await store.put(name.slice(0, name.lastIndexOf('.')));
  try {
    await file.write(bytes);
    await file.finish(name);
  } finally {
    await file.discard();
  }
}

/** The code of the failure that is thrown, and its class. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    if (error instanceof SaveError) return `${error.failure.code}, ${error.failure.class}`;
    throw error;
  }
}
