import type { JsonObject } from '../../../src/service/text-service.ts';

export const gateway = (message: string, code: unknown = '', more: object = {}): JsonObject => ({
  error: { code, message: `${message} (request id: r-1)`, type: 'svc_api_error', ...more },
});

export const page = '<!doctype html><html><head><title>Hi</title></head></html>';
