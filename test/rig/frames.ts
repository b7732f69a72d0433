import type { ArtifactWriter } from '../../src/artifacts/writer.ts';
import type { Artifact, Button } from '../../src/plan/job.ts';

/** The buttons of a grid, as far as they show that it is one. */
export const gridButtons: readonly Button[] = [1, 2, 3, 4].map((number) => ({
  customId: `IMG::JOB::upsample::${number}::0`,
  label: `U${number}`,
  emoji: '',
}));

/** The frames that a cut leaves of a grid, with files of which only the names are true. */
export const framesOf = (key: string, { width = 0, height = 0 }: Partial<Artifact>): readonly Artifact[] =>
  [2, 3, 4, 5].map((output) => ({
    output,
    file: `images/${key.slice(0, 2)}/${key}-${output}.png`,
    bytes: 1,
    sha256: `${key}-${output}`,
    mime: 'image/png',
    width: width / 2,
    height: height / 2,
  }));

/** What a writer that cuts everything says. */
export const cutNowhere: ArtifactWriter['cut'] = ({ key, grid }) =>
  Promise.resolve({ ok: true, value: framesOf(key, grid) });
