import { isMapping, type Value } from '../../pipeline/values/value.ts';
import type { JobRecord, TextCandidate, TextResult } from '../job.ts';

/** Output numbers of the images in one candidate of an answer; whoever judges answers leaves no other data in them. */
const outputsIn = ({ parts }: TextCandidate): readonly Value[] =>
  parts.flatMap((part) => {
    const inline = isMapping(part) ? part['inlineData'] : undefined;
    return isMapping(inline) ? [inline['output'] ?? null] : [];
  });

/** True where the model drew: in the record stand only the places of its images, whose data is in files or nowhere. */
export const hasImages = (text: TextResult | undefined): boolean =>
  text?.candidates.some((candidate) => outputsIn(candidate).length > 0) ?? false;

/** True where files of a finished answer can be written from its record alone: it has texts, and no image. */
export const hasOnlyTexts = (text: TextResult | undefined): boolean =>
  !hasImages(text) && (text?.candidates.some((candidate) => candidate.text.trim() !== '') ?? false);

/** True where an answer cannot be said again as a turn (`continue`), since an image of it was not kept. */
export function lacksImages({ text, artifacts }: Pick<JobRecord, 'text' | 'artifacts'>): boolean {
  const [answer] = text?.candidates ?? [];
  return (
    answer !== undefined &&
    outputsIn(answer).some((output) => !artifacts.some((artifact) => artifact.output === output))
  );
}
