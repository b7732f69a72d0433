import { neutralNames, type SandboxNames } from '../sandbox/names.ts';
import { type NamePreset, type Names, nameKeys, namePresets, resolveNames } from '../service/names.ts';
import { usageError } from './failure.ts';
import { didYouMean } from './suggest.ts';

/**
 * The words that a sandbox must know to be the service that a pipeline's `service.names` describes. A gateway that has the
 * native text endpoint at one of its usual paths has it at the other one too; a path of its own is the only one. A
 * rehearsal has no client but promptpress: what others send is not taken.
 */
export const sandboxNames = ({ botType, nativePath, ...names }: Names): SandboxNames => ({
  ...names,
  botTypes: [botType, 'NIJI_JOURNEY'],
  nativePaths: neutralNames.nativePaths.includes(nativePath) ? neutralNames.nativePaths : [nativePath],
  familyClients: false,
});

const familyPreset: NamePreset = 'midjourney-proxy';

const presets = Object.keys(namePresets) as readonly NamePreset[];

/**
 * The words of a service as a flag gives them: a preset, own words, or both, `midjourney-proxy,keyHeader=x-api-key`. They mean
 * what the map `service.names` of a pipeline means. With the preset midjourney-proxy the sandbox also takes what other clients of
 * that family send.
 * @throws CliError (exit 2) for a preset or a word that is not known, one that is given twice, and one that cannot be
 */
export function namesOf(text: string, name: string): SandboxNames {
  const [first = '', ...rest] = text.split(',').map((part) => part.trim());
  const preset = first.includes('=') ? 'neutral' : first;
  if (!presets.some((known) => known === preset)) {
    throw usageError(
      `${name} takes ${presets.join(' or ')} and words such as path=art after it, not "${preset}".`,
      didYouMean(preset, presets),
    );
  }
  const own = new Map<string, string>();
  for (const part of first.includes('=') ? [first, ...rest] : rest) {
    const at = part.indexOf('=');
    const word = at < 0 ? part : part.slice(0, at).trim();
    if (!nameKeys.some((known) => known === word)) {
      throw usageError(
        `${name} knows no word "${word}". Its words: ${nameKeys.join(', ')}.`,
        didYouMean(word, nameKeys),
      );
    }
    if (at < 0) throw usageError(`${name} takes ${word}=VALUE, not "${part}".`);
    if (own.has(word)) throw usageError(`${name} gives ${word} twice.`);
    own.set(word, part.slice(at + 1).trim());
  }
  const names = resolveNames(preset, Object.fromEntries(own));
  if (!names.ok) throw usageError(`${name}: ${names.error.map(({ message }) => message).join(' ')}`);
  return { ...sandboxNames(names.value), familyClients: preset === familyPreset };
}
