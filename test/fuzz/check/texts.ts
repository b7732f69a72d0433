import type { DiagnosticDraft, Result } from '../../../src/pipeline/diagnostics/diagnostic.ts';
import { TableError } from '../../../src/pipeline/matrix/table/error.ts';
import { tableBatches } from '../../../src/pipeline/matrix/table/read.ts';
import { type TableFormat } from '../../../src/pipeline/matrix/table/table.ts';
import {
  parseAddress,
  parsePath,
  parseSegment,
  parseSelector,
} from '../../../src/pipeline/selectors/parse.ts';
import {
  compilePattern,
  patternDiagnostic,
  patternSubject,
} from '../../../src/pipeline/selectors/pattern.ts';
import { compileCondition, compileTemplate } from '../../../src/pipeline/templates/compile.ts';
import { templateLimits } from '../../../src/pipeline/templates/limits.ts';
import { TemplateError, type TemplateScope } from '../../../src/pipeline/templates/template.ts';
import type { Value } from '../../../src/pipeline/values/value.ts';
import { type Input, streamOf, textOf } from '../input.ts';
import { examine, filesOf } from './examine.ts';
import { Broken, lawfulDiagnostics, lawfulText, locate, type Run } from './law.ts';

/** The checks of what needs no machine: texts and bytes. Each makes its input ready and gives back what is measured. */

export function pipelineRun(input: Input): Run {
  const text = textOf(input);
  return async () => (await examine(text, filesOf({}))).codes;
}

export function tableRun(input: Input): Run {
  const name = `t.${input.form}`;
  const files = filesOf({ [name]: () => streamOf(input) });
  const bytes = input.pieces.reduce((sum, { text, times }) => sum + text.length * times, 0);
  return async () => {
    const text = `name: t\nmatrix: { rows: ${name} }\nsteps: { grid: { imagine: a } }\n`;
    if (bytes < 256 * 1024) return (await examine(text, files)).codes;
    // What is larger is read once, not three times.
    try {
      let rows = 0;
      for await (const batch of tableBatches(files, `/pipelines/${name}`, input.form as TableFormat))
        rows += batch.rows.length;
      return rows === 0 ? ['no rows'] : [];
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      if (error.message.length > 10_000)
        throw new Broken(`${error.code} is said in ${error.message.length} characters.`);
      return [error.code];
    }
  };
}

/** Texts on which a pattern that goes back would spend its time. */
const subjects = [
  'a'.repeat(patternSubject),
  `${'a'.repeat(patternSubject - 1)}!`,
  'ab'.repeat(patternSubject / 2),
  `${'x'.repeat(patternSubject - 1)}=`,
  ' a'.repeat(patternSubject / 2),
];

function matched(source: string): readonly string[] {
  const diagnostic = patternDiagnostic(source);
  if (diagnostic !== undefined) return lawfulDiagnostics([diagnostic], source);
  const pattern = compilePattern(source);
  for (const subject of subjects) pattern.test(subject);
  return [];
}

export function selectorRun(input: Input): Run {
  const text = textOf(input);
  const read = (): Result<unknown, readonly DiagnosticDraft[]> => {
    switch (input.form) {
      case 'segment':
        return parseSegment(text, locate);
      case 'selector':
        return parseSelector(text, locate);
      case 'address':
        return parseAddress(text, locate);
      default:
        return parsePath(text, locate);
    }
  };
  return () => {
    if (input.form === 'pattern') return Promise.resolve(matched(text));
    const result = read();
    return Promise.resolve(result.ok ? [] : lawfulDiagnostics(result.error, text));
  };
}

const scope: TemplateScope = {
  vars: {
    animal: 'fox',
    text: 'x%<&" '.repeat(200),
    list: [{ name: 'ink' }, { name: 'oil', constructor: 1 }, ['a', null]],
    medium: { name: 'ink', stylize: 50 },
    n: 3,
  },
  repeat: 1,
  steps: {
    grid: { url: 'https://a.example/1.png' },
    pick: {
      text: '{"best": 3}',
      // As JSON.parse makes it of what a model says: names of JavaScript's own are members like any other.
      json: JSON.parse(
        '{"best":3,"why":"a%<&","list":[{"name":"ink"},{"name":null}],"__proto__":{"a":1},"constructor":{"name":"x"}}',
      ) as Value,
      parts: [{ text: '{"best": 3}', thoughtSignature: 's' }],
      usage: { prompt: 3, total: 14 },
    },
  },
};

/** @throws Broken when a rendering fails in an unforeseen way, or gives more than it may */
function rendered(render: () => unknown): readonly string[] {
  try {
    const given = render();
    if (typeof given === 'string' && given.length > templateLimits.output)
      throw new Broken(`It gives ${given.length} characters.`);
    return [];
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    if (error.message.length > 10_000)
      throw new Broken(`${error.code} is said in ${error.message.length} characters.`);
    return [error.code];
  }
}

export function templateRun(input: Input): Run {
  const text = textOf(input);
  return () => {
    if (input.form === 'condition') {
      const result = compileCondition(text, locate);
      if (!result.ok) return Promise.resolve(lawfulDiagnostics(result.error, text));
      return Promise.resolve(rendered(() => result.value.holds(scope)));
    }
    const result = compileTemplate(text, locate);
    if (!result.ok) return Promise.resolve(lawfulDiagnostics(result.error, text));
    const { value } = result;
    // What is one output alone is evaluated, all else is rendered.
    const isOutput = text.startsWith('{{') && text.indexOf('}}') === text.length - 2;
    return Promise.resolve(rendered(() => (isOutput ? value.evaluate(scope) : value.render(scope))));
  };
}

/** Names that no file may have on one of the systems a run directory is carried to. */
const unsafeName =
  /^(?:\.+|.*[. ]|-.*|(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\..*)?)$|[^\p{L}\p{M}\p{N}._-]/iu;

const named = {
  pipeline: (name: string) => `name: ${name}\nsteps: { grid: { imagine: a } }\n`,
  step: (name: string) => `name: t\nsteps: { ${name}: { imagine: a } }\n`,
  axis: (name: string) => `name: t\nmatrix: { ${name}: [a] }\nsteps: { grid: { imagine: a } }\n`,
  label: (name: string) => `name: t\nsteps: { grid: { imagine: a, path: ${name} } }\n`,
};

export function nameRun(input: Input): Run {
  const text = named[input.form as keyof typeof named](JSON.stringify(textOf(input)));
  return async () => {
    const { codes, pipeline } = await examine(text, filesOf({}));
    if (pipeline !== undefined) {
      const { name } = pipeline;
      if (unsafeName.test(name) || Buffer.byteLength(name) > 200)
        throw new Broken(`"${name}" would be a folder.`);
      for (const step of pipeline.steps) lawfulText(step.name, 'The name of a step');
    }
    return codes;
  };
}
