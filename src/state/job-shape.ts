import { kindsAsking } from '../pipeline/kinds.ts';
import {
  aFlag,
  aMapping,
  aNumber,
  anything,
  aText,
  aWord,
  either,
  listOf,
  mapOf,
  type Shape,
} from '../pipeline/values/shape.ts';
import { type Attempt, type JobRecord, jobStatuses } from '../plan/job.ts';

/** Shapes of the job data in a state: whoever wrote its rows, readers may rely on the types that the plan room declares. */

const texts = listOf(aText);
const values = mapOf(anything);
const numbers = mapOf(aNumber);
const fault = aMapping({ code: aText, message: aText }, { requestId: aText, httpStatus: aNumber });
const button = aMapping({ customId: aText, label: aText, emoji: aText });
const image = either(aMapping({ sha256: aText }), aMapping({ url: aText }), aMapping({ job: aText }));
const box: Shape = (value) => listOf(aNumber)(value) && (value as readonly unknown[]).length === 4;
const mask = either(
  aMapping({ sha256: aText }, { invert: aFlag }),
  aMapping(
    { shapes: listOf(either(aMapping({ rectangle: box }), aMapping({ ellipse: box }))) },
    { invert: aFlag },
  ),
);
const press = either(
  aMapping({ kind: aWord('text'), text: aText }),
  aMapping({ kind: aWord('pattern'), source: aText }),
  aMapping({ kind: aWord('word'), word: aText }),
);
const request = either(
  aMapping(
    { kind: aWord(...kindsAsking('task')), fields: values },
    { images: listOf(image), mask, extra: values },
  ),
  aMapping(
    { kind: aWord(...kindsAsking('button')), fields: values, press: listOf(press) },
    { mask, extra: values },
  ),
  aMapping(
    { kind: aWord(...kindsAsking('model')), fields: values },
    { images: listOf(image), continues: aText, extra: values },
  ),
);
const artifact = aMapping(
  { output: aNumber, file: aText, bytes: aNumber, sha256: aText, mime: aText },
  { width: aNumber, height: aNumber, candidate: aNumber },
);
const place = aMapping({ segment: aNumber, offset: aNumber, length: aNumber, sha256: aText });
const candidate = aMapping(
  { text: aText, isJson: aFlag, parts: listOf(anything) },
  { read: aMapping({ json: aText, passed: texts }), finishReason: aText },
);
const said = aMapping(
  { candidates: listOf(candidate) },
  { blockReason: aText, model: aText, responseId: aText, requestId: aText, reply: place },
);
const result = aMapping(
  { buttons: listOf(button) },
  {
    imageUrl: aText,
    imageUrls: texts,
    frameUrls: texts,
    videoUrls: texts,
    spareVideoUrl: aText,
    prompts: texts,
    seed: aText,
  },
);
const speed = aWord('relax', 'fast', 'turbo');
const modal = aMapping({ taskId: aText, sent: aNumber });
const doubtful = aMapping({ count: aNumber }, { cost: aNumber, since: aNumber });

/** Members common to a job and its former result. */
const outcome = {
  taskId: aText,
  parentTaskId: aText,
  from: numbers,
  kept: numbers,
  modal,
  pressed: button,
  speed,
  submittedAt: aNumber,
  finishedAt: aNumber,
  result,
  text: said,
  turns: listOf(anything),
  rounds: listOf(place),
  invalid: aNumber,
  reusedFrom: aText,
};

const job = aMapping(
  {
    key: aText,
    kind: aText,
    status: aWord(...jobStatuses),
    request,
    origin: aMapping({ cell: aNumber, step: aText, branch: aText, slot: aText }),
    attempts: aNumber,
    artifacts: listOf(artifact),
  },
  {
    ...outcome,
    parent: aText,
    inputs: texts,
    keep: aFlag,
    tries: aNumber,
    resubmits: aNumber,
    submittedBy: aText,
    invocation: aNumber,
    frames: aMapping({ files: listOf(artifact) }, { error: fault }),
    former: aMapping({}, { ...outcome, resubmits: aNumber }),
    redone: aMapping({ count: aNumber, first: aMapping({}, { taskId: aText, submittedAt: aNumber }) }),
    error: fault,
    cost: aNumber,
    doubtful,
    sender: aText,
    unheard: texts,
    named: aMapping({}, { taskId: aText, error: fault, cost: aNumber, doubtful }),
    shared: aMapping({ taskId: aText, jobs: texts }),
    assumed: aMapping({ answers: aNumber, tokens: aNumber }, { cost: aNumber }),
    files: mapOf(aText),
    call: aMapping({ stream: aFlag, accept: texts }),
    usage: numbers,
  },
);

const attempt = aMapping({ key: aText, at: aNumber, outcome: aText }, { taskId: aText, error: fault });

/** Whether a document has the members that all readers of a job rely on. */
export const isJob = (value: unknown, key: string): value is JobRecord =>
  job(value) && (value as JobRecord).key === key;

/** Whether a value is an entry of a job's history. */
export const isAttempt = (value: unknown): value is Attempt => attempt(value);
