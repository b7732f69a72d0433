import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { oneStep, write } from './pipelines.ts';

const tonight = oneStep(3).replace('name: one', 'name: tonight');

/** What `npm pack` makes of this repository. */
export const packedFile = `promptpress-${packageJson.version}.tgz`;

/** An npm for {@link shell} that installs nothing, and succeeds where it is told to install that file and finds it. */
export const npmOfPackedFile: Readonly<Record<string, string>> = {
  npm: `case "$*" in "install -g ./"*"${packedFile}" | "install -g /"*"${packedFile}") test -f "$3" ;; *) exit 1 ;; esac`,
};

/** A folder with the set that the recipes for unattended runs name, the packed file, and a gateway that answers at once. */
export async function night(
  run: (folder: string, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const service = await startFakeService();
  await using folder = await temporaryFolder();
  try {
    await write(folder.path, { 'tonight.yaml': tonight, [packedFile]: '' });
    await run(folder.path, {
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: service.apiKey,
    });
  } finally {
    await service.close();
  }
}
