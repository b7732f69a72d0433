/** The names in which gateways of the family differ (gateway 1.2), kept apart from the client's, so that wrong names are refused. */
export interface SandboxNames {
  /** First path segment of the image workflow: `img` in `/img/submit/imagine`. */
  readonly path: string;
  /** Path prefix that asks for relax mode; empty: only a path without prefix does. */
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
  /** Keys of the `tools` entries for search and maps grounding, in snake case or camel case. */
  readonly searchTool: string;
  readonly mapsTool: string;
  /** The second header for the key at the native text endpoint (gateway 1.4). */
  readonly keyHeader: string;
  /** The second header for the key on image paths; empty: none (gateway 1.4). */
  readonly imageKeyHeader: string;
  /**
   * Whether the sandbox accepts requests beyond the contract that clients of the midjourney-proxy family send (gateway 2.1, 1.4): an
   * imagine without botType, the key in `imageKeyHeader` or `?key=`, the family's additional paths.
   */
  readonly familyClients: boolean;
}

/** The names of the preset `neutral`. */
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

/** The names that gateways of the midjourney-proxy family use. */
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
