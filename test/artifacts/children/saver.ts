/** Saves one link, and says what came of it. */
import { createArtifactWriter } from '../../../src/artifacts/artifact-writer.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { wallClock } from '../../../src/cli/adapters/clock.ts';

const [directory = '', url = ''] = process.argv.slice(2);
const writer = createArtifactWriter({
  store: openArtifactFolder(directory),
  baseUrl: url,
  clock: wallClock,
});
const result = await writer.save({ url, key: 'abc', output: 1 }, new AbortController().signal);
process.stdout.write(JSON.stringify(result));
