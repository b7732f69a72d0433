/** Saves one link, and says what came of it. */
import { createArtifactWriter } from '../../../src/artifacts/artifact-writer.ts';

const [directory = '', url = ''] = process.argv.slice(2);
const writer = createArtifactWriter({ directory, baseUrl: url });
const answer = await writer.save({ url, key: 'abc', output: 1 }, new AbortController().signal);
process.stdout.write(JSON.stringify(answer));
