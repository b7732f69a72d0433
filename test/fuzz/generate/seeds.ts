import { readdirSync, readFileSync } from 'node:fs';
import { pipelineExamples, readDocuments } from '../../rig/documents.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** Pipelines as people write them: the material of mutations. */
export const validPipelines: readonly string[] = [
  ...readdirSync(new URL('pipelines/', root))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => read(`pipelines/${name}`)),
  ...pipelineExamples(readDocuments()).values(),
  read('test/pipeline/whole-language.yaml'),
];
