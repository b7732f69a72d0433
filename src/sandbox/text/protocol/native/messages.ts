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
/** A member that the service accepts and the sandbox ignores. */
const open = struct;

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

/** The subset of OpenAPI that `responseSchema` and `parameters` are written in. */
const schema: Message = message('Schema', () => ({
  type: words('Type', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'),
  format: string,
  title: string,
  description: string,
  nullable: bool,
  default: any,
  example: any,
  enum: list(string),
  items: of(schema),
  minItems: int,
  maxItems: int,
  properties: { kind: 'map', of: of(schema) },
  propertyOrdering: list(string),
  required: list(string),
  minProperties: int,
  maxProperties: int,
  minimum: float,
  maximum: float,
  minLength: int,
  maxLength: int,
  pattern: string,
  anyOf: list(of(schema)),
}));

const thinkingConfig = message('ThinkingConfig', () => ({
  includeThoughts: bool,
  thinkingBudget: int,
  thinkingLevel: words('ThinkingConfig.ThinkingLevel', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
}));

const generationConfig = message('GenerationConfig', () => ({
  temperature: float,
  topP: float,
  topK: float,
  maxOutputTokens: int,
  candidateCount: int,
  stopSequences: list(string),
  seed: int,
  presencePenalty: float,
  frequencyPenalty: float,
  responseLogprobs: bool,
  logprobs: int,
  responseMimeType: string,
  responseSchema: of(schema),
  responseJsonSchema: any,
  responseModalities: list(words('GenerationConfig.Modality', 'TEXT', 'IMAGE', 'AUDIO')),
  mediaResolution: words(
    'GenerationConfig.MediaResolution',
    'MEDIA_RESOLUTION_UNSPECIFIED',
    'MEDIA_RESOLUTION_LOW',
    'MEDIA_RESOLUTION_MEDIUM',
    'MEDIA_RESOLUTION_HIGH',
  ),
  speechConfig: open,
  imageConfig: of(message('ImageConfig', () => ({ aspectRatio: string, imageSize: string }))),
  thinkingConfig: of(thinkingConfig),
  enableEnhancedCivicAnswers: bool,
}));

const functionDeclaration = message('FunctionDeclaration', () => ({
  name: string,
  description: string,
  behavior: string,
  parameters: of(schema),
  parametersJsonSchema: any,
  response: of(schema),
  responseJsonSchema: any,
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

/** The keys of the search and maps tools, in camelCase, as read requests carry them. */
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
