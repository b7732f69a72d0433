import type { Round } from './round.ts';

/** What is wrong with a round, and all that helps to find out why. */
export function wrongWith({ lost, duplicated, overlooked, undone, open, wrongFiles, ...round }: Round) {
  const { gaveUp, textsUnsaid, amiss, sameManifest, codes, missed, history, evidence, said } = round;
  const wrong = {
    lost,
    duplicated,
    overlooked,
    undone,
    open,
    wrongFiles,
    textsUnsaid,
    amiss,
    sameManifest,
    missed,
  };
  const found = { ...wrong, gaveUp: gaveUp.map(({ name }) => name), code: codes.at(-1) };
  return { found, why: [...history, ...evidence, said, ...gaveUp.map(({ stderr }) => stderr)].join('\n') };
}

/** What a round should come to. */
export const nothingWrong = {
  lost: [],
  duplicated: [],
  overlooked: [],
  undone: 0,
  open: 0,
  wrongFiles: [],
  textsUnsaid: [],
  amiss: [],
  sameManifest: true,
  missed: 0,
  gaveUp: [],
  code: 0,
};
