import type { Members } from '../../ask.ts';

/** A body of the native endpoint after its fields were read: camelCase, typed, bytes decoded (gateway 6.2). */
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
  /** Search and maps, by the names that the gateway gives them. */
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
