/** The first part of the name of an artifact: what kind of file it is. */
export const artifactRoots = ['images', 'text', 'video'] as const;

export type ArtifactRoot = (typeof artifactRoots)[number];

/**
 * Names of the artifacts of a job: never prompt text, never a cell's number, so that a file keeps its name when the matrix is
 * edited. Relative to the run directory, with `/`, without extension.
 */
export const imagePath = (key: string, output: number): string =>
  `images/${key.slice(0, 2)}/${key}-${output}`;

export const videoPath = (key: string, output: number): string => `video/${key.slice(0, 2)}/${key}-${output}`;

export const textPath = (key: string, output: number): string => `text/${key.slice(0, 2)}/${key}-${output}`;

/** The service's whole answer; with a round, that of a finished round of function calls, from 1. Without extension. */
export const replyPath = (key: string, round?: number): string =>
  `text/${key.slice(0, 2)}/${key}.answer${round === undefined ? '' : `.${round}`}`;

/** Keys are hashes; one that could lead out of the folder is not one of ours. */
export function checkName(key: string, output: number): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(key) || !Number.isSafeInteger(output) || output < 1) {
    throw new Error(`Internal error: ${JSON.stringify(key)}, output ${output}, cannot be a file name.`);
  }
}

/** Whether a text can be the name of an artifact. The state may have come with a repository: it can name anything. */
export const isArtifactName = (name: string): boolean =>
  /^(?:images|text|video)\/[A-Za-z0-9][A-Za-z0-9._-]{0,1}\/[A-Za-z0-9][A-Za-z0-9._-]{0,250}$/.test(name);
