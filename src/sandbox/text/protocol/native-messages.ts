import type { Members } from '../ask.ts';
import type { Field, Message } from './proto.ts';

const string: Field = { kind: 'string' };
const bool: Field = { kind: 'bool' };
const float: Field = { kind: 'float' };
const int: Field = { kind: 'int' };
const struct: Field = { kind: 'struct' };
const any: Field = { kind: 'any' };
const list = (of: Field): Field => ({ kind: 'list', of });
const of = (message: Message): Field => ({ kind: 'message', message });
const words = (type: string, ...values: string[]): Field => ({ kind: 'enum', type, values });
const message = (type: string, fields: () => Readonly<Record<string, Field>>): Message => ({ type, fields });
/** A member that the sandbox accepts and ignores. */
const open = struct;
const each = (field: Field, names: string): Readonly<Record<string, Field>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, field]));

const blob = message('Blob', () => ({ mimeType: string, data: { kind: 'bytes' }, displayName: string }));

const part = message('Part', () => ({
  text: string,
  thought: bool,
  thoughtSignature: string,
  inlineData: of(blob),
  fileData: of(message('FileData', () => ({ fileUri: string, mimeType: string, displayName: string }))),
  functionCall: of(message('FunctionCall', () => ({ id: string, name: string, args: struct }))),
  functionResponse: of(
    message('FunctionResponse', () => ({
      id: string,
      name: string,
      response: struct,
      parts: any,
      willContinue: bool,
      scheduling: string,
    })),
  ),
  executableCode: of(
    message('ExecutableCode', () => ({
      id: string,
      code: string,
      language: words('ExecutableCode.Language', 'LANGUAGE_UNSPECIFIED', 'PYTHON'),
    })),
  ),
  codeExecutionResult: of(
    message('CodeExecutionResult', () => ({
      id: string,
      outcome: words(
        'CodeExecutionResult.Outcome',
        'OUTCOME_UNSPECIFIED',
        'OUTCOME_OK',
        'OUTCOME_FAILED',
        'OUTCOME_DEADLINE_EXCEEDED',
      ),
      output: string,
    })),
  ),
  videoMetadata: open,
  mediaResolution: any,
  partMetadata: open,
}));

const content = message('Content', () => ({ role: string, parts: list(of(part)) }));

/** The subset of OpenAPI of `responseSchema` and `parameters`. */
const schema: Message = message('Schema', () => ({
  ...each(string, 'format title description pattern'),
  nullable: bool,
  ...each(any, 'default example'),
  ...each(int, 'minItems maxItems minProperties maxProperties minLength maxLength'),
  ...each(float, 'minimum maximum'),
  type: words('Type', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'),
  enum: list(string),
  items: of(schema),
  properties: { kind: 'map', of: of(schema) },
  propertyOrdering: list(string),
  required: list(string),
  anyOf: list(of(schema)),
}));

const thinkingConfig = message('ThinkingConfig', () => ({
  includeThoughts: bool,
  thinkingBudget: int,
  thinkingLevel: words('ThinkingConfig.ThinkingLevel', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
}));

const generationConfig = message('GenerationConfig', () => ({
  ...each(float, 'temperature topP topK presencePenalty frequencyPenalty'),
  ...each(int, 'maxOutputTokens candidateCount seed logprobs'),
  ...each(bool, 'responseLogprobs enableEnhancedCivicAnswers'),
  responseMimeType: string,
  responseJsonSchema: any,
  speechConfig: open,
  stopSequences: list(string),
  responseSchema: of(schema),
  responseModalities: list(words('GenerationConfig.Modality', 'TEXT', 'IMAGE', 'AUDIO')),
  mediaResolution: words(
    'GenerationConfig.MediaResolution',
    'MEDIA_RESOLUTION_UNSPECIFIED',
    'MEDIA_RESOLUTION_LOW',
    'MEDIA_RESOLUTION_MEDIUM',
    'MEDIA_RESOLUTION_HIGH',
  ),
  imageConfig: of(message('ImageConfig', () => ({ aspectRatio: string, imageSize: string }))),
  thinkingConfig: of(thinkingConfig),
}));

const functionDeclaration = message('FunctionDeclaration', () => ({
  ...each(string, 'name description behavior'),
  ...each(any, 'parametersJsonSchema responseJsonSchema'),
  parameters: of(schema),
  response: of(schema),
}));

const harmCategories = [
  'HARASSMENT',
  'HATE_SPEECH',
  'SEXUALLY_EXPLICIT',
  'DANGEROUS_CONTENT',
  'CIVIC_INTEGRITY',
  'JAILBREAK',
].map((word) => `HARM_CATEGORY_${word}`);

const safetySetting = message('SafetySetting', () => ({
  category: words('HarmCategory', ...harmCategories),
  threshold: words(
    'SafetySetting.HarmBlockThreshold',
    'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
    'BLOCK_LOW_AND_ABOVE',
    'BLOCK_MEDIUM_AND_ABOVE',
    'BLOCK_ONLY_HIGH',
    'BLOCK_NONE',
    'OFF',
  ),
}));

const toolConfig = message('ToolConfig', () => ({
  functionCallingConfig: of(
    message('FunctionCallingConfig', () => ({
      mode: words('FunctionCallingConfig.Mode', 'MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'),
      allowedFunctionNames: list(string),
    })),
  ),
  retrievalConfig: open,
  includeServerSideToolInvocations: bool,
}));

const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

/** Returns the keys of the search and maps tools in camelCase. */
export const toolKeys = (names: { readonly searchTool: string; readonly mapsTool: string }) => ({
  search: camel(names.searchTool),
  maps: camel(names.mapsTool),
});

/** The body of the native endpoint (gateway 6.2). */
export function requestMessage(names: { readonly searchTool: string; readonly mapsTool: string }): Message {
  const keys = toolKeys(names);
  const tool = message('Tool', () => ({
    functionDeclarations: list(of(functionDeclaration)),
    codeExecution: of(message('CodeExecution', () => ({}))),
    urlContext: of(message('UrlContext', () => ({}))),
    [keys.search]: of(message('SearchTool', () => ({ timeRangeFilter: open, searchTypes: open }))),
    [`${keys.search}Retrieval`]: open,
    [keys.maps]: of(message('MapsTool', () => ({ enableWidget: bool, authConfig: open }))),
  }));
  return message('GenerateContentRequest', () => ({
    model: string,
    contents: { kind: 'list', of: of(content), single: true },
    systemInstruction: of(content),
    tools: { kind: 'list', of: of(tool), single: true },
    toolConfig: of(toolConfig),
    safetySettings: list(of(safetySetting)),
    generationConfig: of(generationConfig),
    cachedContent: string,
    serviceTier: string,
    store: bool,
  }));
}

/** A body of the native endpoint with valid types, names in camelCase and decoded bytes (gateway 6.2). */
export interface NativeRequest {
  readonly contents?: readonly NativeContent[];
  readonly systemInstruction?: NativeContent;
  readonly tools?: readonly NativeTool[];
  readonly toolConfig?: {
    readonly functionCallingConfig?: {
      readonly mode?: string;
      readonly allowedFunctionNames?: readonly string[];
    };
  };
  readonly safetySettings?: readonly { readonly category?: string; readonly threshold?: string }[];
  readonly generationConfig?: NativeConfig;
  readonly cachedContent?: string;
}

interface NativeContent {
  readonly role?: string;
  readonly parts?: readonly NativePart[];
}

interface NativePart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly inlineData?: { readonly mimeType?: string; readonly data?: Buffer };
  readonly fileData?: { readonly fileUri?: string; readonly mimeType?: string };
  readonly functionCall?: { readonly name?: string; readonly args?: Members };
  readonly functionResponse?: { readonly name?: string; readonly response?: Members };
  readonly executableCode?: { readonly code?: string };
  readonly codeExecutionResult?: { readonly output?: string };
}

interface NativeTool {
  readonly functionDeclarations?: readonly {
    readonly name?: string;
    readonly description?: string;
    readonly parameters?: unknown;
    readonly parametersJsonSchema?: unknown;
  }[];
  /** Search and maps, by the gateway's names. */
  readonly [tool: string]: unknown;
}

interface NativeConfig {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  readonly candidateCount?: number;
  readonly stopSequences?: readonly string[];
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly responseMimeType?: string;
  readonly responseSchema?: unknown;
  readonly responseJsonSchema?: unknown;
  readonly responseModalities?: readonly string[];
  readonly imageConfig?: { readonly aspectRatio?: string; readonly imageSize?: string };
  readonly thinkingConfig?: {
    readonly includeThoughts?: boolean;
    readonly thinkingBudget?: number;
    readonly thinkingLevel?: string;
  };
}
