import { temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { oneStep, write } from './pipelines.ts';

const tonight = oneStep(3).replace('name: one', 'name: tonight');

/** A folder with the set that the recipes for unattended runs name, and a gateway that answers at once. */
export async function night(
  run: (folder: string, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const service = await startFakeService();
  await using folder = await temporaryFolder();
  try {
    await write(folder.path, { 'tonight.yaml': tonight });
    await run(folder.path, {
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: service.apiKey,
    });
  } finally {
    await service.close();
  }
}
