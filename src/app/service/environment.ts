import type { Pipeline } from '../../pipeline/pipeline.ts';
import { mayBeSent, variableReference } from '../../pipeline/settings/variables.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Environment } from '../output/io.ts';

/** A text of the service block with its variables filled in. */
export interface FilledText {
  readonly text: string;
  /** The values that came from the environment: what must never be shown. */
  readonly values: readonly string[];
}

/** Where a key is named. */
export const keyField = 'service.apiKey';

/** Names of the variables that a text needs and the environment does not have. An empty variable counts as missing. */
export const missingVariables = (text: string, env: Environment): readonly string[] =>
  [...text.matchAll(variableReference)].flatMap(([, name = '', fallback]) =>
    fallback === undefined && (env[name] ?? '') === '' ? [name] : [],
  );

/**
 * Fills `${VAR}` and `${VAR:-default}` in. The value of a variable is not expanded again.
 *
 * @param field what the text is: `service.apiKey` may hold any variable, every other one only those that may be sent
 * anywhere
 * @throws CliError (exit 2) naming the variable and the line of the pipeline that asks for it
 */
export function fillIn(
  text: string,
  field: string,
  { env, pipeline }: { readonly env: Environment; readonly pipeline: Pick<Pipeline, 'source'> },
): FilledText {
  const values: string[] = [];
  const filled = text.replaceAll(variableReference, (_, name: string, fallback: string | undefined) => {
    if (field !== keyField && !mayBeSent(name))
      throw new Error(`Internal error: ${name} in ${field} passed the checks`);
    const value = env[name] ?? '';
    if (value !== '') {
      values.push(value);
      return value;
    }
    if (fallback !== undefined) return fallback;
    throw usageError(
      `The environment variable ${name} is not set: ${whereAsked(pipeline, name, field)} needs it.`,
      `Set it (export ${name}=…), or rehearse without a service: promptpress run ${pipeline.source.file} --sandbox`,
    );
  });
  return { text: filled, values };
}

/** `pipeline.yaml:4 (service.apiKey)`; a default has no line. */
function whereAsked({ source }: Pick<Pipeline, 'source'>, name: string, field: string): string {
  const at = source.text
    .split('\n')
    .findIndex((line) => !line.trimStart().startsWith('#') && line.includes(`\${${name}`));
  return at < 0
    ? `${field}, which ${source.file} leaves at its default of \${${name}},`
    : `${source.file}:${at + 1} (${field})`;
}
