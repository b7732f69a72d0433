/**
 * Matches `${VAR}` and `${VAR:-default}` of the service block. A default contains no other variable, so that a text with nothing but
 * openings is read once.
 */
export const variableReference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:[^}$]|\$+[^}${])*\$*))?\}/g;

/** Name of the variable with the address of the service. */
export const addressVariable = 'PROMPTPRESS_BASE_URL';

const ownPrefix = 'PROMPTPRESS_VAR_';

/**
 * Whether the service block may use a variable outside of `apiKey`. Its value goes into addresses, headers and bodies, to a host that the
 * file chooses: any other variable may hold a secret of the user, which a stranger's file could steal.
 */
export const mayBeSent = (name: string): boolean => name === addressVariable || name.startsWith(ownPrefix);

/** Companies whose keys are kept in variables with these names (by their own documentation). */
const otherServices: readonly (readonly [begins: RegExp, name: string])[] = [
  [/^OPENAI_/, 'OpenAI'],
  [/^ANTHROPIC_/, 'Anthropic'],
  [/^(?:GEMINI|GOOGLE)_/, 'Google'],
  [/^AZURE_/, 'Azure'],
  [/^AWS_/, 'AWS'],
  [/^(?:HF|HUGGINGFACE|HUGGING_FACE)_/, 'Hugging Face'],
  [/^REPLICATE_/, 'Replicate'],
  [/^STABILITY_/, 'Stability AI'],
  [/^MISTRAL_/, 'Mistral'],
  [/^GROQ_/, 'Groq'],
  [/^(?:GH|GITHUB)_/, 'GitHub'],
];

/** Returns the company whose key a variable holds, by its name; undefined for any other name. */
export const otherServiceOf = (name: string): string | undefined =>
  otherServices.find(([begins]) => begins.test(name))?.[1];
