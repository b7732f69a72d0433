import { type InputSource, largestInput } from '../../artifacts/inputs.ts';
import { isMapping, type Value } from '../../pipeline/values/value.ts';
import { type Artifact, artifactsOf, type JobRecord } from '../../plan/job.ts';
import { type ImageSource, isTextRequest, type TextRequest } from '../../plan/job-request.ts';
import type { RecordLookup } from '../../plan/slot.ts';

/** One turn of a conversation, before its images are read. */
export interface ConversationTurn {
  readonly request: TextRequest;
  readonly images: readonly Shown[];
  /** Contents in the service's own format that followed the turn. */
  readonly after: readonly Said[];
}

/** An image shown in a turn. */
export interface Shown {
  readonly source: InputSource;
  /** Maximum length of its Base64, in bytes. */
  readonly bytes: number;
}

/** A content that the model added, or the step's reply to it. */
export interface Said {
  readonly role: Value;
  readonly parts: readonly SaidPart[];
}

export interface SaidPart {
  readonly part: Value;
  /** Source of the image for its `{ inlineData: { mimeType, output } }`. */
  readonly image?: Shown;
}

/** Maximum number of jobs in one conversation. No plan has a longer chain, so more would be a cycle. */
const longest = 1000;

const encoded = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** Thrown when the state lacks an input of a request. */
export class MissingInput extends Error {}

/**
 * Returns the whole conversation of a text job: the jobs that it continues, oldest first, then the job itself.
 *
 * @throws MissingInput
 */
export function conversationOf(record: JobRecord, lookup: RecordLookup): readonly ConversationTurn[] {
  const turns: ConversationTurn[] = [];
  for (let at: JobRecord | undefined = record; at !== undefined; ) {
    if (turns.length === longest) throw new Error(`Internal error: ${record.key} continues too many jobs.`);
    const { request }: JobRecord = at;
    if (!isTextRequest(request)) throw new Error(`Internal error: ${at.key} is not a text job.`);
    turns.unshift({ request, images: imagesOf(at, request, lookup), after: saidBy(at, at !== record) });
    at = request.continues === undefined ? undefined : existing(request.continues, lookup);
  }
  return turns;
}

function imagesOf(
  { files }: JobRecord,
  { images = [] }: TextRequest,
  lookup: RecordLookup,
): readonly Shown[] {
  return images.flatMap((image) => shownImages(image, files, lookup));
}

/**
 * Returns the images of a source. For a job these are all its images, or the one that is named.
 *
 * @throws MissingInput
 */
export function shownImages(
  image: ImageSource,
  files: JobRecord['files'],
  lookup: RecordLookup,
): readonly Shown[] {
  if ('url' in image) {
    const { url } = image;
    const bytes = url.startsWith('data:') ? url.length : encoded(largestInput);
    return [{ source: { kind: 'url', url }, bytes }];
  }
  if ('sha256' in image) {
    const { sha256 } = image;
    const path = files?.[sha256];
    if (path === undefined) throw new Error(`Internal error: the path of the file ${sha256} is unknown.`);
    return [{ source: { kind: 'file', path, sha256 }, bytes: encoded(largestInput) }];
  }
  const record = existing(image.job, lookup);
  const { artifacts, result, origin } = record;
  if (image.output !== undefined) {
    const file = artifactsOf(record).find(({ output }) => output === image.output);
    if (file !== undefined) return [shownArtifact(file)];
    throw new MissingInput(
      `Output ${image.output} of step ${origin.step} in cell ${origin.cell} is not there any more. promptpress verify --repair makes it again.`,
    );
  }
  const pictures = artifacts.filter(({ mime }) => mime.startsWith('image/'));
  if (pictures.length > 0) return pictures.map(shownArtifact);
  // The service keeps an image for some time even if this project did not save it (gateway 4.7).
  if (result?.imageUrl !== undefined)
    return [{ source: { kind: 'url', url: result.imageUrl }, bytes: encoded(largestInput) }];
  throw new MissingInput(
    `Step ${origin.step} made no image in cell ${origin.cell} that could be shown, or it was not kept (keep: false).`,
  );
}

const shownArtifact = ({ file, mime, bytes, sha256 }: Artifact): Shown => ({
  source: { kind: 'artifact', file, mime, sha256 },
  bytes: encoded(bytes),
});

/** Contents that follow a job's own request: its rounds of function calls and, once the job is finished, the reply. */
function saidBy(record: JobRecord, finished: boolean): readonly Said[] {
  const rounds = (record.turns ?? []).map((turn): Said => {
    const { role = 'user', parts = [] } = isMapping(turn) ? turn : {};
    return {
      role,
      parts: (Array.isArray(parts) ? (parts as readonly Value[]) : []).map((part) => ({ part })),
    };
  });
  if (!finished) return rounds;
  const [answer] = record.text?.candidates ?? [];
  if (answer === undefined)
    throw new MissingInput(
      `Step ${record.origin.step} has no answer in cell ${record.origin.cell} that could be continued.`,
    );
  return [...rounds, { role: 'model', parts: answer.parts.map((part) => saidPart(part, record)) }];
}

function saidPart(part: Value, { key, artifacts, origin }: JobRecord): SaidPart {
  const inline = isMapping(part) ? part['inlineData'] : undefined;
  const output = isMapping(inline) ? inline['output'] : undefined;
  if (output === undefined) return { part };
  const artifact = artifacts.find((one) => one.output === output);
  if (artifact === undefined)
    throw new MissingInput(
      `The answer of step ${origin.step} in cell ${origin.cell} has an image that was not kept (keep: false), so it cannot be continued. Run with --redo ${key} to make it again.`,
    );
  return { part, image: shownArtifact(artifact) };
}

function existing(key: string, lookup: RecordLookup): JobRecord {
  const record = lookup(key);
  if (record === undefined)
    throw new Error(`Internal error: job ${key} is needed by a request and is missing in the state.`);
  return record;
}
