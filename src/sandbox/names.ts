/**
 * The words in which services of the family differ (gateway 1.2). The sandbox keeps its own map of them, so that a client with a wrong name meets a service that does not know it.
 */
export interface SandboxNames {
  /** First path segment of the image workflow: `img` in `/img/submit/imagine`. */
  readonly path: string;
  /** Path prefix that asks for relax mode; empty: there is none, as relax is what no prefix means. */
  readonly relaxPrefix: string;
  /** Path prefix that asks for fast mode: `img-fast` in `/img-fast/img/submit/imagine`. */
  readonly fastPrefix: string;
  /** Path prefix that asks for turbo mode. */
  readonly turboPrefix: string;
  /**
   * First path segments of the native text endpoint: `v1beta` in `/v1beta/models/text-pro:generateContent` (gateway 1.3), and
   * `v1`, which `@google/genai` calls by default since its major 3.
   */
  readonly nativePaths: readonly string[];
  /** First part of every customId: `IMG` in `IMG::JOB::upsample::1::…`. */
  readonly customId: string;
  /** The botType values that imagine accepts; the first is the ordinary one, the second the niji models. */
  readonly botTypes: readonly [string, string];
  /** `error.type` of the error envelope (gateway 8.1). */
  readonly errorType: string;
  /** Keys of the `tools` entries for search and maps grounding; either spelling of them is understood. */
  readonly searchTool: string;
  readonly mapsTool: string;
  /** The header besides `Authorization` that the native text endpoint takes a key in (gateway 1.4). */
  readonly keyHeader: string;
  /** The header besides `Authorization` that image paths take a key in; empty: none (gateway 1.4). */
  readonly imageKeyHeader: string;
  /**
   * Whether requests are taken that clients of the midjourney-proxy family send beyond the contract (gateway 2.1, 1.4): an
   * imagine without botType, the key in `imageKeyHeader` or `?key=`, paths of the family alone.
   */
  readonly familyClients: boolean;
}

/** The words of the preset `neutral`. */
export const neutralNames: SandboxNames = {
  path: 'img',
  relaxPrefix: '',
  fastPrefix: 'img-fast',
  turboPrefix: 'img-turbo',
  nativePaths: ['v1beta', 'v1'],
  customId: 'IMG',
  botTypes: ['IMG_JOURNEY', 'NIJI_JOURNEY'],
  errorType: 'svc_api_error',
  searchTool: 'vendor_search',
  mapsTool: 'vendorMaps',
  keyHeader: 'x-vendor-api-key',
  imageKeyHeader: '',
  familyClients: false,
};

/** The words that gateways of the midjourney-proxy family use. */
export const midjourneyProxyNames: SandboxNames = {
  path: 'mj',
  relaxPrefix: 'mj-relax',
  fastPrefix: 'mj-fast',
  turboPrefix: 'mj-turbo',
  nativePaths: ['v1beta', 'v1'],
  customId: 'MJ',
  botTypes: ['MID_JOURNEY', 'NIJI_JOURNEY'],
  errorType: 'new_api_error',
  searchTool: 'google_search',
  mapsTool: 'googleMaps',
  keyHeader: 'x-goog-api-key',
  imageKeyHeader: 'mj-api-secret',
  familyClients: true,
};
