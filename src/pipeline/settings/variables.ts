/**
 * `${VAR}` and `${VAR:-default}`, as the service block may hold them. A default holds no other variable, so that a text of nothing
 * but beginnings is read once.
 */
export const variableReference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:[^}$]|\$+[^}${])*\$*))?\}/g;

/** The variable that holds the address of the service. */
export const addressVariable = 'PROMPTPRESS_BASE_URL';

const ownPrefix = 'PROMPTPRESS_VAR_';

/**
 * True for a variable that the service block may name outside of `apiKey`. Its value goes into addresses, headers and bodies, to
 * a host that the file may choose: any other variable may hold a key of its user, which a stranger's file could ask for.
 */
export const mayBeSent = (name: string): boolean => name === addressVariable || name.startsWith(ownPrefix);

/** Companies whose keys stand in variables of these names (their own documentation). */
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

/** The company whose key a variable holds by its name; undefined for any other name. */
export const otherServiceOf = (name: string): string | undefined =>
  otherServices.find(([begins]) => begins.test(name))?.[1];
