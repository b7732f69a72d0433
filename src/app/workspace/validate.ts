import { basename } from 'node:path';
import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import { type Plan, preparePlan } from '../../plan/plan.ts';
import { type CheckedFile, checkedFile, type ModelCheck } from '../../report/text/validation.ts';
import type { Context } from '../context.ts';
import { imagesForPlan } from './images.ts';
import { checkPipeline, type PipelineText } from './read-pipeline.ts';

/** The findings in a pipeline and its tables. */
export interface FoundInFile {
  readonly checked: CheckedFile;
  /** Diagnostics with their source lines. */
  readonly diagnostics: readonly Diagnostic[];
  /** Warnings about models that the service does not list. */
  readonly warnings: readonly string[];
}

/**
 * Checks a pipeline and reads its tables to the end: a bad row is an error like any other.
 *
 * @param online checks the service too; absent: no service is contacted
 * @throws CliError if there is no such file
 */
export async function validateFile(
  given: string | PipelineText,
  flags: Parameters<typeof checkPipeline>[1],
  context: Context,
  online?: (plan: Plan) => Promise<{ readonly models: ModelCheck; readonly warnings: readonly string[] }>,
): Promise<FoundInFile> {
  const { pipeline, path, files, diagnostics: written } = await checkPipeline(given, flags, context);
  const planned =
    pipeline === undefined
      ? undefined
      : await preparePlan(pipeline, {
          files,
          serviceId: 'none',
          images: imagesForPlan(pipeline, files.root, undefined),
        });
  const diagnostics = planned?.ok === false ? [...written, ...planned.error] : written;
  const asked = planned?.ok === true ? await online?.(planned.value) : undefined;
  const file = typeof given === 'string' ? given : basename(path);
  return {
    checked: checkedFile(file, diagnostics, planned?.ok === true, asked?.models),
    diagnostics,
    warnings: asked?.warnings ?? [],
  };
}
