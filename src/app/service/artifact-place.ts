import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { SaveError } from '../../artifacts/failure.ts';
import { isSharedInput, type SharedInputs } from '../../artifacts/inputs.ts';
import type { SubmissionCounts } from '../../artifacts/store/counts.ts';
import { openArtifactFolder } from '../../artifacts/store/folder.ts';
import { isOurArtifactName } from '../../artifacts/store/names.ts';
import { filePieces } from '../../artifacts/store/open-file.ts';
import {
  isS3Address,
  readS3Address,
  type S3Address,
  shownS3Address,
} from '../../artifacts/store/s3/address.ts';
import type { S3Client } from '../../artifacts/store/s3/client.ts';
import { type ArtifactStore, hasArtifacts } from '../../artifacts/store/store.ts';
import { artifactPlaceFact, runFiles } from '../../report/facts/layout.ts';
import { quoted } from '../../report/text/printable.ts';
import type { ResultStore } from '../../run/ports.ts';
import type { StateReader } from '../../state/reader.ts';
import type { FactKeeper } from '../../state/store.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { failureText } from '../errors/render.ts';
import { admitBucket, admitKey, isOfEnvFile } from './trust.ts';
import { secretKeyVariable } from './trust-file.ts';

/** Names of the facts in a state whose artifacts are in a bucket. */
export const placeFacts = {
  address: artifactPlaceFact,
  /** The permanent id of the run directory that owns the place. */
  owner: 'artifacts.owner',
} as const;

/** How long a command retries a store that does not answer, in ms: at the start, and later. */
export const patience = { atStart: 15_000, later: 180_000 } as const;

/** The place of a run's files outside of its directory. */
export interface RemotePlace {
  /** `s3://bucket/prefix`. */
  readonly url: string;
  /** Uploads a file of the run directory, unless the same file is there. @throws SaveError */
  publish(name: string, file: string): Promise<void>;
  /** Returns the place as a result store: it reports while it is unavailable, and is retried for `patienceMs`. */
  results(patienceMs: number): ResultStore;
  /** Counts of submissions of all workers, for a run on an engine. */
  readonly counts: SubmissionCounts;
  /** Files of the pipeline that the workers share, for a run on an engine. */
  readonly inputs: SharedInputs;
  /** Returns the names there that promptpress did not make, in order. @throws SaveError */
  foreign(): AsyncIterable<string>;
}

/** The artifacts of a run directory, in the directory or in a bucket. */
export interface ArtifactPlace {
  readonly store: ArtifactStore;
  /** The bucket; absent: the artifacts are in the directory. */
  readonly remote?: RemotePlace;
}

type Facts = Pick<StateReader, 'fact'>;

/** Parses `--out` as `s3://bucket/prefix`; undefined if it names a folder. @throws CliError (exit 2) if the address is wrong */
export function s3PlaceOf(out: string | undefined): S3Address | undefined {
  if (out === undefined || !isS3Address(out)) return undefined;
  const address = readS3Address(out);
  if (typeof address !== 'string') return address;
  throw usageError(
    `--out: ${out} is not a place in a bucket. ${address}`,
    'Write it like s3://bucket/prefix, and give each run a prefix of its own.',
  );
}

/** Returns the bucket that a state remembers; undefined: its artifacts are in the run directory. */
export async function rememberedPlace(state: Facts): Promise<string | undefined> {
  return await state.fact(placeFacts.address);
}

/**
 * Uploads files of the run directory to its bucket. If that fails, says so and how to repeat it.
 *
 * @returns whether the files are there, or are not wanted there
 */
export async function publishFiles(
  { remote, directory }: { readonly remote?: RemotePlace; readonly directory: string },
  names: readonly string[],
  leave: AbortSignal,
  { io }: Context,
): Promise<boolean> {
  if (remote === undefined || leave.aborted) return true;
  try {
    for (const name of names) await remote.publish(name, join(directory, name));
    return true;
  } catch (error) {
    if (!(error instanceof SaveError)) throw error;
    if (leave.aborted) return true;
    const hint = 'Give the same command again: it does what is left, and no more.';
    io.err(failureText(error.message, hint));
    return false;
  }
}

/** Refuses another place than that of the run. @throws CliError (exit 2) if `--out` names one */
export async function refuseOtherPlace(
  out: string | undefined,
  directory: string,
  state: Facts,
): Promise<void> {
  const address = s3PlaceOf(out);
  if (address === undefined) return;
  const url = await rememberedPlace(state);
  if (url === shownS3Address(address)) return;
  throw usageError(
    `--out: the files of the run in ${directory} are ${url === undefined ? 'there' : `in ${url}`}, not in ${shownS3Address(address)}.`,
    'Name the run directory alone: it knows where its files lie.',
  );
}

/** @throws CliError (exit 2) if the place in the state is not an address */
function addressIn(directory: string, url: string): S3Address {
  const address = readS3Address(url);
  if (typeof address !== 'string') return address;
  throw usageError(`The state of ${directory} names ${url} as the place of its files. ${address}`);
}

/**
 * Opens the artifacts of a run directory to read or to tidy them. `disposables` closes them.
 *
 * @throws CliError (exit 2) if the environment does not say how to reach the store
 */
export async function openArtifactsOf(
  directory: string,
  state: Facts,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<ArtifactPlace> {
  const remembered = await rememberedPlace(state);
  if (remembered === undefined) return inFolder(directory, disposables);
  const address = addressIn(directory, remembered);
  const client = await openClient(address, `the state of ${directory}`, signal, disposables, context);
  return await inBucket(client, directory, disposables);
}

/**
 * Opens the artifacts of a run that is about to begin. Contacts the store before anything is paid, and records its place in the directory,
 * whose lock must be held.
 *
 * @param wanted place from `--out`; absent: the earlier place
 * @throws CliError (exit 2), SaveError
 */
export async function takePlace(
  run: {
    readonly directory: string;
    /** Name of the pipeline, written into the mark of the place. */
    readonly pipeline: string;
    readonly wanted: S3Address | undefined;
    /** True if other processes write to the directory too. */
    readonly isShared?: boolean;
  },
  state: FactKeeper,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<ArtifactPlace> {
  const { directory, pipeline, wanted, isShared = false } = run;
  const remembered = await rememberedPlace(state.reader);
  const url = wanted === undefined ? remembered : shownS3Address(wanted);
  if (url === undefined) return inFolder(directory, disposables, isShared);
  if (url !== remembered) await refuseMove(directory, url, remembered, state);
  const address = addressIn(directory, url);
  const namedBy = wanted === undefined ? `the state of ${directory}` : undefined;
  const client = await openClient(address, namedBy, signal, disposables, context);
  // The id must be durable before the place is marked with it.
  const id = state.fact(placeFacts.owner) ?? randomUUID();
  if (state.fact(placeFacts.owner) === undefined) await state.setFact(placeFacts.owner, id);
  const { claimPlace } = await import('../../artifacts/store/s3/claim.ts');
  client.patienceMs = patience.atStart;
  const claim = await claimPlace(client, { id, pipeline }).catch(refusedAtStart);
  if ('message' in claim) throw usageError(`--out: ${claim.message}`, claim.hint);
  if (!claim.honoursConditions)
    context.io.err(
      `promptpress: warning: ${client.origin} ignores the conditions of writes (If-None-Match): let no two runs write to ${url}.\n`,
    );
  client.patienceMs = patience.later;
  if (remembered !== url) await state.setFact(placeFacts.address, url);
  return await inBucket(client, directory, disposables);
}

/** Turns the refusal of the first request into a CliError (exit 2). @throws other errors unchanged */
function refusedAtStart(error: unknown): never {
  if (!(error instanceof SaveError) || error.failure.code !== 's3.failed') throw error;
  throw usageError(
    `--out: ${error.message}`,
    'Check the address, AWS_REGION and the keys; AWS_SESSION_TOKEN belongs to temporary keys alone.',
  );
}

/** Files that lie beside the artifacts. */
const published = new Set<string>([runFiles.manifest, runFiles.record]);

/** @throws CliError (exit 2) if the files of earlier runs are elsewhere */
async function refuseMove(
  directory: string,
  wanted: string,
  remembered: string | undefined,
  state: FactKeeper,
): Promise<void> {
  const { jobs } = await state.reader.totals();
  const hasFiles =
    remembered === undefined
      ? await hasArtifacts(openArtifactFolder(directory), '')
      : jobs.saving + jobs.done > 0;
  if (!hasFiles) return;
  throw usageError(
    `--out: the results of this run are in ${remembered ?? directory}, and ${wanted} is another place: a run has all its files in one.`,
    remembered === undefined
      ? `Leave --out out to continue there, or begin anew in a run directory of its own: --out ${quoted(wanted)} --run-directory DIR`
      : `Continue there: --out ${quoted(remembered)}\nOr begin anew, in a run directory of its own: --out ${quoted(wanted)} --run-directory DIR`,
  );
}

/** Opens the artifacts in a folder. @param isShared several processes write to it: their partial files stay */
export function inFolder(directory: string, disposables: Disposables, isShared = false): ArtifactPlace {
  const store = openArtifactFolder(directory, isShared);
  disposables.add(() => store.close());
  return { store };
}

/** Opens the artifacts in a bucket. @param directory holds received files until they are uploaded */
export async function inBucket(
  client: S3Client,
  directory: string,
  disposables: Disposables,
): Promise<ArtifactPlace> {
  const [
    { openS3Artifacts },
    { namesUnder },
    { upload },
    { ownerName },
    { bucketCounts, countObjects },
    { bucketInputs },
  ] = await Promise.all([
    import('../../artifacts/store/s3/s3-store.ts'),
    import('../../artifacts/store/s3/list.ts'),
    import('../../artifacts/store/s3/upload.ts'),
    import('../../artifacts/store/s3/claim.ts'),
    import('../../artifacts/store/s3/counts.ts'),
    import('../../artifacts/store/s3/shared-inputs.ts'),
  ]);
  const store = openS3Artifacts(client, directory);
  disposables.add(() => store.close());
  return {
    store,
    remote: {
      url: shownS3Address(client.address),
      counts: bucketCounts(client),
      inputs: bucketInputs(client),
      async *foreign() {
        for await (const name of namesUnder(client, ''))
          if (
            !isOurArtifactName(name) &&
            !published.has(name) &&
            !countObjects.has(name) &&
            !isSharedInput(name) &&
            name !== ownerName
          )
            yield name;
      },
      results: (patienceMs) => ({
        onAway: (listener) => {
          const { onAway } = client;
          const tell = (why: string | undefined): void => listener(why && awayInRun(client, why));
          client.patienceMs = patienceMs;
          client.onAway = tell;
          if (client.away !== undefined) tell(client.away);
          return () => {
            client.patienceMs = patience.later;
            client.onAway = onAway;
          };
        },
      }),
      publish: async (name, path) => {
        const hash = createHash('sha256');
        let size = 0;
        for await (const piece of filePieces(path)) {
          hash.update(piece);
          size += piece.length;
        }
        await upload(client, name, { path, size, sha256: hash.digest('hex') }, true);
      },
    },
  };
}

const keyId = 'AWS_ACCESS_KEY_ID';
const sessionToken = 'AWS_SESSION_TOKEN';

/** Removes the session token if it is not from the same source (environment or file) as the key: it belongs to another key. */
function withKeysOfOnePlace(context: Context): Context['io']['env'] {
  const { env } = context.io;
  const isOne = isOfEnvFile(secretKeyVariable, context) === isOfEnvFile(sessionToken, context);
  return isOne ? env : { ...env, [sessionToken]: undefined };
}

const awayWords = ({ address }: S3Client, why: string): string =>
  `Nothing could be written to ${shownS3Address(address)}, or nothing read, for 5 s: ${why}`;

const awayInRun = (client: S3Client, why: string): string =>
  `${awayWords(client, why)}. Nothing new is submitted until it can; it is tried again for ${Math.round(client.patienceMs / 1000)} s (retry.patience).`;

/**
 * Opens a client for a bucket. Its modules are loaded here, because runs with files in a folder do not need them.
 *
 * @param namedBy the state that names the bucket; absent: the user did
 * @throws CliError (exit 2) if the environment does not say how to reach a bucket, or its keys may not be sent there
 */
export async function openClient(
  address: S3Address,
  namedBy: string | undefined,
  signal: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<S3Client> {
  const { io, redactor } = context;
  const [
    { S3Client: Client, requestsAtOnce },
    { endpointVariable, readS3Settings, S3SettingsError, secretsOfS3 },
    { createDispatcher },
  ] = await Promise.all([
    import('../../artifacts/store/s3/client.ts'),
    import('../../artifacts/store/s3/settings.ts'),
    import('../../service/http/connect/dispatcher.ts'),
  ]);
  for (const secret of secretsOfS3(io.env)) redactor.addCredential(secret);
  try {
    const env = withKeysOfOnePlace(context);
    const settings = readS3Settings(address, env);
    const endpoint = endpointVariable(env);
    for (const key of [secretKeyVariable, keyId])
      await admitKey({ key, origin: settings.origin }, endpoint, context, { mayAsk: true });
    await admitBucket(address.bucket, namedBy, context);
    const dispatcher = createDispatcher({ connections: requestsAtOnce, connectMs: 10_000, env });
    disposables.add(() => dispatcher.destroy());
    const client = await Client.open({
      address,
      settings,
      dispatcher,
      // Signatures need the time of day, even if the clock was corrected after the start.
      clock: { ...io.machine.clock, now: () => io.machine.timeOfDay() },
      random: Math.random,
      signal,
      patienceMs: patience.later,
    });
    disposables.add(() => client.close());
    client.onAway = (why) => {
      if (why === undefined) return;
      const words = `${awayWords(client, why)}. It is tried again for ${Math.round(client.patienceMs / 1000)} s.`;
      io.err(failureText(words));
    };
    return client;
  } catch (error) {
    if (error instanceof S3SettingsError) throw usageError(error.message, error.hint);
    throw error;
  }
}
