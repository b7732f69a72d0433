import { digestOfValue } from '../../../seeded.ts';
import type {
  Ask,
  AskTurn,
  CallingMode,
  FunctionDeclaration,
  ImageWish,
  JsonWish,
  Members,
  Part,
} from '../../ask.ts';
import { fromOpenApi } from '../../json/open-api.ts';
import type { NativeThinkingLevel, TextModel } from '../../models.ts';
import { signatureError } from '../../tools/signature.ts';
import { refuse, type Understood } from '../problem.ts';
import { requestError } from './check.ts';
import { requestMessage, toolKeys } from './messages.ts';
import { readProto } from './proto.ts';
import type { NativeRequest } from './request.ts';

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

/** Harms that `[unsafe]` stands for are let pass: some category is, and none that was named is not. */
const isUnguarded = (settings: NonNullable<NativeRequest['safetySettings']>): boolean =>
  settings.length > 0 && settings.every(({ threshold }) => threshold === 'BLOCK_NONE' || threshold === 'OFF');
