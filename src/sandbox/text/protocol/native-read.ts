import { digestOfValue } from '../../seeded.ts';
import {
  type Ask,
  type AskTurn,
  type CallingMode,
  type FunctionDeclaration,
  type ImageWish,
  type JsonWish,
  type Members,
  type Part,
  refuse,
  type Understood,
} from '../ask.ts';
import { fromOpenApi } from '../json/schema.ts';
import type { NativeThinkingLevel, TextModel } from '../models.ts';
import { signatureError } from '../tools.ts';
import { type NativeRequest, requestMessage, toolKeys } from './native-messages.ts';
import { readProto } from './proto.ts';

type Config = NonNullable<NativeRequest['generationConfig']>;

/** Reads the body of the native endpoint (gateway 6.2). */
export function readNative(
  body: Members,
  model: TextModel,
  names: { readonly searchTool: string; readonly mapsTool: string },
): Understood<Ask> {
  const read = readProto(body, requestMessage(names));
  if (!read.ok) return refuse(read.errors.join('\n'));
  const request = read.value as NativeRequest;
  const keys = toolKeys(names);
  const { generationConfig: config = {}, tools = [] } = request;
  const error = requestError(request, model);
  if (error !== undefined) return refuse(error);

  const turns = (request.contents ?? []).map(turnOf);
  const signatures = model.newer ? signatureError(turns) : undefined;
  if (signatures !== undefined) return refuse(signatures);
  const calling = request.toolConfig?.functionCallingConfig;
  const { thinkingConfig: thinking = {} } = config;
  const has = (name: string): boolean => tools.some((tool) => tool[name] !== undefined);
  const maps = tools.find((tool) => tool[keys.maps] !== undefined)?.[keys.maps];
  return {
    ok: true,
    value: {
      model,
      digest: digestOfValue({ model: model.id, request }),
      system: (request.systemInstruction?.parts ?? []).map(({ text = '' }) => text).join('\n'),
      turns,
      count: config.candidateCount ?? 1,
      temperature: config.temperature ?? 1,
      ...(config.maxOutputTokens === undefined ? {} : { longest: config.maxOutputTokens }),
      stops: config.stopSequences ?? [],
      thinking: {
        ...(thinking.thinkingLevel === undefined
          ? {}
          : { level: thinking.thinkingLevel as NativeThinkingLevel }),
        ...(thinking.thinkingBudget === undefined ? {} : { budget: thinking.thinkingBudget }),
        shown: thinking.includeThoughts === true,
      },
      json: jsonWish(config),
      functions: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(declarationOf)),
      calling: callingMode(calling?.mode),
      callable: calling?.allowedFunctionNames ?? [],
      search: has(keys.search) || has(`${keys.search}Retrieval`),
      maps: maps === undefined ? undefined : { widget: (maps as Members)['enableWidget'] === true },
      code: has('codeExecution'),
      image: imageWish(config),
      wantsText: config.responseModalities?.includes('TEXT') ?? true,
      unguarded: isUnguarded(request.safetySettings ?? []),
      ...(request.cachedContent === undefined ? {} : { cachedContent: request.cachedContent }),
    },
  };
}

function turnOf({ role, parts = [] }: NonNullable<NativeRequest['contents']>[number]): AskTurn {
  return {
    role: role === 'model' ? 'model' : 'user',
    parts: parts.flatMap((part, index): readonly Part[] => {
      const { text, inlineData, fileData, functionCall, functionResponse } = part;
      if (part.thought === true) return [];
      if (text !== undefined) return [{ kind: 'text', text }];
      if (inlineData !== undefined) {
        const { mimeType = '', data = Buffer.alloc(0) } = inlineData;
        return [
          mimeType.startsWith('image/')
            ? { kind: 'image', bytes: data, where: `part ${index}` }
            : { kind: 'file', name: mimeType, mime: mimeType, bytes: data.length },
        ];
      }
      if (fileData !== undefined) {
        const { fileUri = '', mimeType = '' } = fileData;
        return [{ kind: 'file', name: fileUri, mime: mimeType, bytes: 0 }];
      }
      if (functionCall !== undefined) {
        const { name = '', args = {} } = functionCall;
        const signature = part.thoughtSignature;
        return [{ kind: 'call', name, args, ...(signature === undefined ? {} : { signature }) }];
      }
      if (functionResponse !== undefined) {
        return [{ kind: 'response', name: functionResponse.name ?? '', response: functionResponse.response }];
      }
      return [{ kind: 'text', text: part.executableCode?.code ?? part.codeExecutionResult?.output ?? '' }];
    }),
  };
}

function jsonWish(config: Config): JsonWish | undefined {
  const isWord = config.responseMimeType === 'text/x.enum';
  if (isWord && config.responseSchema) return { schema: fromOpenApi(config.responseSchema), isWord };
  if (config.responseMimeType !== 'application/json') return undefined;
  if (config.responseJsonSchema !== undefined) return { schema: config.responseJsonSchema };
  return config.responseSchema === undefined ? {} : { schema: fromOpenApi(config.responseSchema) };
}

const declarationOf = ({
  name = '',
  description = '',
  parameters,
  parametersJsonSchema,
}: NonNullable<
  NonNullable<NativeRequest['tools']>[number]['functionDeclarations']
>[number]): FunctionDeclaration => ({
  name,
  description,
  schema: parametersJsonSchema ?? (parameters === undefined ? { type: 'object' } : fromOpenApi(parameters)),
});

const callingMode = (mode = 'AUTO'): CallingMode => (mode === 'ANY' || mode === 'NONE' ? mode : 'AUTO');

function imageWish({ responseModalities = [], imageConfig = {} }: Config): ImageWish | undefined {
  if (!responseModalities.includes('IMAGE')) return undefined;
  const [width, height] = (imageConfig.aspectRatio ?? '').split(':').map(Number);
  return {
    ...(width === undefined || height === undefined ? {} : { aspect: width / height }),
    scale: imageConfig.imageSize === '4K' ? 4 : imageConfig.imageSize === '2K' ? 2 : 1,
  };
}

/** Whether there are safety settings, and all of them are off. */
const isUnguarded = (settings: NonNullable<NativeRequest['safetySettings']>): boolean =>
  settings.length > 0 && settings.every(({ threshold }) => threshold === 'BLOCK_NONE' || threshold === 'OFF');

/** Returns the error of a request with valid types, in the words of the family (gateway 6.2). */
const requestError = (request: NativeRequest, model: TextModel): string | undefined =>
  contentsError(request) ??
  configError(request.generationConfig ?? {}, model) ??
  toolError(request) ??
  cacheError(request);

function cacheError({ cachedContent }: NativeRequest): string | undefined {
  if (cachedContent === undefined || /^cachedContents\/[\w-]+$/.test(cachedContent)) return undefined;
  return `Invalid resource field value in the request: cached_content "${cachedContent.slice(0, 100)}".`;
}

function contentsError({ contents = [], systemInstruction }: NativeRequest): string | undefined {
  if (contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified';
  for (const [index, { role, parts = [] }] of contents.entries()) {
    if (role !== undefined && !['user', 'model', 'function', ''].includes(role))
      return 'Please use a valid role: user, model.';
    if (parts.length === 0)
      return `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`;
    for (const [at, part] of parts.entries()) {
      const where = `* GenerateContentRequest.contents[${index}].parts[${at}]`;
      if (dataMembers.every((name) => part[name] === undefined))
        return `${where}.data: required oneof field 'data' must have one initialized field`;
      if (part.inlineData !== undefined && (part.inlineData.mimeType ?? '') === '')
        return `${where}.inline_data.mime_type: must not be empty.`;
      if ((part.functionCall ?? part.functionResponse)?.name === '')
        return `${where}.function_call.name: Name cannot be empty.`;
    }
  }
  if (systemInstruction?.parts?.some(({ text }) => text === undefined))
    return 'System instruction only supports text parts.';
  if (contents.at(-1)?.role === 'model' && contents.length === 1)
    return 'Please ensure that single turn requests end with a user role or the role field is empty.';
  return callOrderError(contents);
}

const dataMembers = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
] as const;

/** Checks that as many responses follow each turn of calls, and none follow another turn. */
function callOrderError(contents: NonNullable<NativeRequest['contents']>): string | undefined {
  for (const [index, { parts = [] }] of contents.entries()) {
    const responses = parts.filter(({ functionResponse }) => functionResponse !== undefined).length;
    const asked =
      contents[index - 1]?.parts?.filter(({ functionCall }) => functionCall !== undefined).length ?? 0;
    if (responses !== asked && (responses > 0 || asked > 0)) {
      return asked === 0
        ? 'Please ensure that function response turn comes immediately after a function call turn.'
        : 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    }
  }
  return undefined;
}

function range(name: string, value: number | undefined, low: number, high: number): string | undefined {
  if (value === undefined || (value >= low && value <= high)) return undefined;
  return `* GenerateContentRequest.generation_config.${name}: ${name} must be in the range [${low}, ${high}].`;
}

function configError(config: Config, model: TextModel): string | undefined {
  const hasSchema = config.responseSchema !== undefined || config.responseJsonSchema !== undefined;
  const mime = config.responseMimeType ?? 'text/plain';
  if (!['text/plain', 'application/json', 'text/x.enum', ''].includes(mime)) {
    return '* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json` and `text/x.enum`.';
  }
  if (
    mime === 'text/x.enum' &&
    (config.responseSchema as { enum?: unknown } | undefined)?.enum === undefined
  ) {
    return "* GenerateContentRequest.generation_config.response_schema: response_mime_type 'text/x.enum' requires an enum.";
  }
  if (hasSchema && mime !== 'application/json' && mime !== 'text/x.enum') {
    return "* GenerateContentRequest.generation_config: response_schema requires response_mime_type: 'application/json'.";
  }
  if (config.responseSchema !== undefined && config.responseJsonSchema !== undefined)
    return 'Only one of response_schema and response_json_schema may be set.';
  return (
    range('temperature', config.temperature, 0, 2) ??
    range('top_p', config.topP, 0, 1) ??
    range('max_output_tokens', config.maxOutputTokens, 1, model.longest) ??
    range('candidate_count', config.candidateCount, 1, 8) ??
    range('presence_penalty', config.presencePenalty, -2, 2) ??
    range('frequency_penalty', config.frequencyPenalty, -2, 2) ??
    ((config.stopSequences?.length ?? 0) > 5
      ? '* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences may be given.'
      : undefined) ??
    thinkingError(config, model) ??
    imageError(config, model)
  );
}

/** Checks that the thinking parameter and its value fit the model's generation (gateway 6.3). */
function thinkingError({ thinkingConfig }: Config, { thinking }: TextModel): string | undefined {
  const { thinkingLevel, thinkingBudget: budget } = thinkingConfig ?? {};
  if (thinkingLevel !== undefined && budget !== undefined)
    return 'You can only set only one of thinking budget and thinking level.';
  if (thinkingLevel !== undefined && thinking.kind !== 'level')
    return 'thinking_level is not supported by this model';
  if (budget === undefined) return undefined;
  switch (thinking.kind) {
    case 'level':
      return 'thinking_budget is not supported by this model';
    case 'none':
      return budget === 0 ? undefined : 'Thinking is not enabled for this model';
    case 'budget':
      if (budget === -1) return undefined;
      if (budget === 0)
        return thinking.canBeOff ? undefined : 'Budget 0 is invalid. This model only works in thinking mode.';
      return budget >= thinking.least && budget <= thinking.most
        ? undefined
        : `The thinking budget (${budget}) is invalid. Please choose a value between ${thinking.least} and ${thinking.most}.`;
  }
}

const aspects = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

function imageError(config: Config, model: TextModel): string | undefined {
  const { responseModalities: modalities = [], imageConfig = {} } = config;
  if (modalities.includes('AUDIO') || (modalities.includes('IMAGE') && !model.images)) {
    return `The requested combination of response modalities is not supported by the model. models/${model.id} accepts the following combination of response modalities:\n* TEXT\n${model.images ? '* IMAGE\n* IMAGE, TEXT\n' : ''}`;
  }
  if (imageConfig.aspectRatio !== undefined && !aspects.includes(imageConfig.aspectRatio)) {
    return `* GenerateContentRequest.generation_config.image_config.aspect_ratio: aspect_ratio must be one of ${aspects.join(', ')}.`;
  }
  if (imageConfig.imageSize !== undefined && !['1K', '2K', '4K'].includes(imageConfig.imageSize)) {
    return '* GenerateContentRequest.generation_config.image_config.image_size: image_size must be one of 1K, 2K, 4K.';
  }
  if (modalities.includes('IMAGE') && config.responseMimeType === 'application/json')
    return 'JSON mode is not enabled for image output';
  return undefined;
}

function toolError({ tools = [], toolConfig }: NativeRequest): string | undefined {
  const names = new Set<string>();
  for (const [index, { functionDeclarations = [] }] of tools.entries()) {
    for (const [at, { name = '', parameters, parametersJsonSchema }] of functionDeclarations.entries()) {
      const where = `* GenerateContentRequest.tools[${index}].function_declarations[${at}]`;
      if (!/^[A-Za-z_][\w.:-]{0,127}$/.test(name)) {
        return `${where}.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:) or dashes (-), with a maximum length of 128.`;
      }
      if (names.has(name)) return `${where}.name: Duplicate function declaration found: ${name}`;
      if (parameters !== undefined && parametersJsonSchema !== undefined)
        return `${where}: only one of parameters and parameters_json_schema may be set.`;
      names.add(name);
    }
  }
  const { mode, allowedFunctionNames: allowed = [] } = toolConfig?.functionCallingConfig ?? {};
  if (allowed.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED')
    return 'Function calling config is set without ANY or VALIDATED mode, but allowed_function_names is set.';
  const unknown = allowed.find((name) => !names.has(name));
  if (unknown !== undefined) {
    return `* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: ${unknown} is not a declared function.`;
  }
  if (mode === 'ANY' && names.size === 0)
    return 'Function calling config is set without function_declarations.';
  return undefined;
}
