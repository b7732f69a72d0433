import type { FakeTask, TaskScript } from './fake-task.ts';
import type { FakeTextOptions } from './fake-text.ts';

/** How the gateway behaves when nothing goes wrong. */
export interface FakeGatewayOptions {
  /** Default `test-key`. */
  readonly apiKey?: string;
  /**
   * Where the key must be. `bearer` (default): as the contract says; `header`: on image paths in `mj-api-secret` alone, at the native
   * endpoint in `x-goog-api-key` or `x-vendor-api-key` alone; `raw`: on image paths in `Authorization` without Bearer; `none`: nowhere.
   */
  readonly auth?: 'bearer' | 'header' | 'raw' | 'none';
  /** A wrong key gets 401 with words, or 403 with nothing. Default `words`. */
  readonly refusal?: 'words' | 'mute';
  /** Path the API lies under, for example `/proxy/v2`. Default none. */
  readonly basePath?: string;
  /** Default `neutral`: `/img`, `IMG::`; `midjourney-proxy`: `/mj`, `MJ::`. */
  readonly names?: 'neutral' | 'midjourney-proxy';
  /** Polls that see a task unfinished before one sees it finished. Default 1. */
  readonly polls?: number;
  /** How single tasks go. Called when the task is made, and when its modal is answered. */
  readonly script?: (task: FakeTask) => TaskScript | undefined;
  /** Pixels of the images. Default 8 by 8. */
  readonly image?: { readonly width: number; readonly height: number };
  /** A link answers this often, then 403 until the task is fetched again (which gives a fresh link). Default always. */
  readonly downloads?: number;
  /** Task ids by number. Default 16 digits, counted. */
  readonly id?: (n: number) => string;
  /** Ids leave as bare JSON numbers. */
  readonly bareIds?: boolean;
  /** More tasks than this in flight are refused with code 23. Default no limit. */
  readonly capacity?: number;
  /** What a click that opens a modal is answered with: 21, or 1 so that only a poll shows MODAL (gateway 4.6). Default 21. */
  readonly modalCode?: 1 | 21;
  /** An answered modal makes another task, or the waiting one goes on (gateway 4.6). Default `new`. */
  readonly modalTask?: 'new' | 'same';
  /** The task that was asked goes on showing MODAL until the work is done (gateway 4.6). Default false. */
  readonly modalLingers?: boolean;
  /** Every variation, reroll, pan and animation opens a modal, as of an account with Remix on. Default: only with enableRemix. */
  readonly remix?: boolean;
  /** No click opens a modal: the gateway drops `enableRemix`, the account answers by itself (gateway 5.5). */
  readonly windowless?: boolean;
  /** An upscaled image can be animated by hand too (gateway 5.4, which does not say where, nor by what label). Default false. */
  readonly manualAnimation?: boolean;
  /** Tasks show no buttons; clicks go by `change` alone. Default false. */
  readonly buttonless?: boolean;
  /** There are paths with a prefix for the speed. Default true. */
  readonly prefixes?: boolean;
  /** Tasks can be listed, all of them or by id (gateway 4.1). Default true. */
  readonly listing?: boolean;
  /** What the models say. Default: what follows from the request. */
  readonly text?: FakeTextOptions;
  /** Keep what was asked for; off for the big runs. Default true. */
  readonly log?: boolean;
}
