import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** The YAML examples of the README that are whole pipelines, or parts made whole. */
function readmeExamples(): readonly string[] {
  const blocks = [...read('README.md').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  return blocks.map((text) => (/^name:/m.test(text) ? text : `name: example\n${text}`));
}

/** Pipelines as people write them: the material of mutations. */
export const validPipelines: readonly string[] = [
  ...readdirSync(new URL('pipelines/', root))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => read(`pipelines/${name}`)),
  ...readmeExamples(),
  read('test/pipeline/whole-language.yaml'),
];
