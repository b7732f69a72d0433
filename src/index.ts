/**
 * promptpress as a library: what its commands are made of. Importing it does nothing.
 *
 *     const files = machineFiles(folder);
 *     const { pipeline, diagnostics } = await parsePipeline({ file, folder, text }, files);
 *     for (const diagnostic of diagnostics) console.error(formatDiagnostic(diagnostic));
 *     const plan = pipeline && (await preparePlan(pipeline, { files, serviceId: 'sandbox' }));
 *     if (plan?.ok) for await (const cell of plan.value.matrix.cells()) console.log(cell.vars);
 *
 * A run takes ports: a state (`openState`, under `acquireLock`), a service (`createImageService`, `createTextService`), a
 * writer of artifacts (`createArtifactWriter`) and a reader of the images that text calls show (`createInputReader`), both over
 * the store of the artifacts (`openArtifactFolder`), and a clock (`wallClock`); `planForRun` shows it a plan, which knows those images through `createImageFiles`. `writeManifest`
 * joins plan and state. `startSandbox` is the local service.
 *
 * @module
 */

export { defaultFilesRoot, machineFiles } from './app/adapters/files.ts';
export { type ArtifactWriterOptions, createArtifactWriter } from './artifacts/artifact-writer.ts';
export type { LinkOptions } from './artifacts/download/link-route.ts';
export {
  createImageFiles,
  type ImageFilesOptions,
  type KnownImageFiles,
  type SeenFile,
  type SeenFiles,
} from './artifacts/input/known-files.ts';
export { createInputReader, type InputReaderOptions } from './artifacts/input/reader.ts';
export type {
  InputReader,
  InputResult as InputAnswer,
  InputSource,
  LoadedImage,
  MaskRequest,
} from './artifacts/inputs.ts';
export { openArtifactFolder } from './artifacts/store/folder.ts';
export type { ArtifactStore, FoundArtifact, IncomingArtifact } from './artifacts/store/store.ts';
export type {
  ArtifactWriter,
  CutResult as CutAnswer,
  KeepRequest,
  KeepResult as KeepAnswer,
  ReplyPiece as AnswerPiece,
  SaveFailure,
  SaveResult as SaveAnswer,
} from './artifacts/writer.ts';
export { wallClock } from './cli/adapters/clock.ts';
export { type ManifestColumn, manifestColumns, manifestHeader, rowFields } from './manifest/columns.ts';
export type { ManifestRow } from './manifest/row.ts';
export { manifestRows } from './manifest/rows.ts';
export type { ManifestTotals as ManifestTally, Reason } from './manifest/tally.ts';
export { writeManifest } from './manifest/write.ts';
export type { Diagnostic, Position, Result } from './pipeline/diagnostics/diagnostic.ts';
export { formatDiagnostic } from './pipeline/diagnostics/format.ts';
export type { FileFacts, FilePort } from './pipeline/files.ts';
export { parsePipeline } from './pipeline/parse.ts';
export type {
  Axis,
  Budget,
  Limits,
  MatrixSpec,
  Pipeline,
  Price,
  Rate,
  Speed,
  Step,
  StepKind,
} from './pipeline/pipeline.ts';
export type { Value } from './pipeline/values/value.ts';
export type { Cell, Selection } from './plan/cell.ts';
export { type EstimateOptions, estimatePlan } from './plan/estimate/estimate.ts';
export type { PlanReport, StepReport } from './plan/estimate/report.ts';
export { type ChosenSteps, chosenSteps } from './plan/graph/step-selection.ts';
export type {
  Artifact,
  Attempt,
  Button,
  JobError,
  JobRecord,
  JobSpec,
  JobStatus,
  TokenUsage,
} from './plan/job.ts';
export type { JobRequest, ReplyPlace, TextRequest, TextResult } from './plan/job-request.ts';
export type { Matrix, TableFacts } from './plan/matrix/types.ts';
export { type Plan, preparePlan } from './plan/plan.ts';
export type { ImageFile, ImageFiles } from './plan/request/image-files.ts';
export { resolveCell } from './plan/resolve/resolve.ts';
export type { RecordLookup, Slot, SlotStatus } from './plan/slot.ts';
export type { Clock } from './run/clock.ts';
export type { RunEnd, RunEvent, RunListener } from './run/events.ts';
export type {
  Allowance,
  Moments,
  Rooms,
  RunControl,
  RunPorts,
  RunReport,
  RunSettings,
  SharedLimits,
} from './run/ports.ts';
export { runPlan } from './run/run.ts';
export { planForRun } from './run/run-plan.ts';
export { parseFault } from './sandbox/faults/parse.ts';
export type { Quirk } from './sandbox/quirks.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/sandbox.ts';
export type { SandboxSettings } from './sandbox/settings.ts';
export { createImageService, type ImageServiceOptions } from './service/client.ts';
export { createDispatcher } from './service/http/connect/dispatcher.ts';
export type { ImageService, SubmitResult as SubmitAnswer, Task } from './service/image-service.ts';
export { type Names, resolveNames } from './service/names.ts';
export type { ServiceFailure, ServiceResult as Answer } from './service/result.ts';
export { createTextService, type TextServiceOptions } from './service/text-client.ts';
export type { Model, TextCallRequest, TextReply, TextService } from './service/text-service.ts';
export { bindDirectory } from './state/binding.ts';
export { acquireLock, type Lock } from './state/lock/lock.ts';
export type { LockOwner } from './state/lock/owner.ts';
export type { StateReader } from './state/reader.ts';
export { openState, openStateForReading } from './state/state.ts';
export { StateError, type StateStore } from './state/store.ts';
