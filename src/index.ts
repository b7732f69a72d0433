/**
 * The library of promptpress: runs, plans and validates pipelines without signals, exit codes, console or environment of its own.
 * Importing it does nothing; any number of runs may be active in one process.
 *
 *     const { summary, rows } = await runPipeline('pipeline.yaml', { sandbox: true });
 *     for await (const { slot, artifact } of rows()) console.log(slot.step, artifact?.file);
 *
 * `startSandbox` starts the local service.
 *
 * @module
 */

import * as library from './app/library.ts';
import { host } from './cli/adapters/host.ts';

/**
 * Runs a pipeline, or continues its run, on this machine like `promptpress run`, with the same checks, locks, trust and files.
 *
 * @param pipeline path of its file, or its text and the folder of its tables, images and runs
 * @returns the outcome, whether complete, interrupted or out of budget
 * @throws PromptpressError if the run is refused, before anything is sent; the signal's reason if it was aborted before the run began
 */
export const runPipeline = (pipeline: string | PipelineText, options?: RunOptions): Promise<FinishedRun> =>
  library.runPipeline(host, pipeline, options);

/**
 * Plans what a run would do, why, and what it would cost, like `promptpress plan --json`: contacts no service and changes nothing.
 *
 * @throws PromptpressError
 */
export const planPipeline = (
  pipeline: string | PipelineText,
  options?: PipelineOptions,
): Promise<PlanReport> => library.planPipeline(host, pipeline, options);

/**
 * Finds every mistake of a pipeline and of its tables, with line and column, like `promptpress validate --json`.
 *
 * @throws PromptpressError if there is no such file
 */
export const validatePipeline = (
  pipeline: string | PipelineText,
  options?: Pick<PipelineOptions, 'set' | 'env'>,
): Promise<CheckedFile> => library.validatePipeline(host, pipeline, options);

export { PromptpressError } from './app/library.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/sandbox.ts';
export type { SandboxSettings } from './sandbox/settings.ts';

import type { FinishedRun, PipelineOptions, RunOptions } from './app/library.ts';
import type { PipelineText } from './app/workspace/read-pipeline.ts';
import type { PlanReport } from './plan/estimate/report.ts';
import type { CheckedFile } from './report/text/validation.ts';

export type { FilterValue } from './app/library.ts';
export type { Environment } from './app/output/io.ts';
export type { ManifestRow, RowOutput } from './manifest/row.ts';
export type { Diagnostic } from './pipeline/diagnostics/diagnostic.ts';
export type { Value } from './pipeline/values/value.ts';
export type { Cell } from './plan/cell.ts';
export type { StepReport } from './plan/estimate/report.ts';
export type { Artifact, Attempt, Button, JobError, JobRecord, JobStatus, TokenUsage } from './plan/job.ts';
export type { Slot, SlotStatus } from './plan/slot.ts';
export type { JsonOutputs, ShownDiagnostic } from './report/facts/json-outputs.generated.ts';
export type { RunSummary } from './report/text/summary.ts';
export type { RunEnd, RunEvent } from './run/events.ts';
export type { Quirk } from './sandbox/quirks.ts';
export type { CheckedFile, FinishedRun, PipelineOptions, PipelineText, PlanReport, RunOptions };
