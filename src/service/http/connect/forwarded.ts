import type { Dispatcher } from 'undici';
import { proxyRefusal } from './connector.ts';
import type { Proxy, ProxyFor } from './proxies.ts';

type Handler = Required<Dispatcher.DispatchHandler>;

/**
 * Returns a request as it is dispatched. One over `http://` that has a proxy names its host, and the proxy forwards it (RFC 9112
 * 3.2.2): most proxies allow CONNECT to port 443 only.
 */
export function forwarded(
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  proxyFor: ProxyFor,
): [Dispatcher.DispatchOptions, Dispatcher.DispatchHandler] {
  const origin = String(options.origin);
  if (!origin.startsWith('http:')) return [options, handler];
  const url = new URL(origin);
  const proxy = proxyFor(url);
  if (proxy === undefined) return [options, handler];
  const { authorization } = proxy;
  const headers = {
    ...(options.headers as Readonly<Record<string, string>>),
    ...(authorization !== undefined && { 'proxy-authorization': authorization }),
  };
  const path = `${url.origin}${options.path}`;
  return [{ ...options, headers, path }, new ForwardedHandler(handler, proxy, url.host)];
}

/** Proxy programs that answer in their own name when they refuse a request. */
const proxyPrograms = /^(?:squid|tinyproxy|privoxy|zscaler)/i;

/** Separates answers of the proxy itself from answers of the service. */
class ForwardedHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #proxy: Proxy;
  readonly #host: string;

  constructor(handler: Dispatcher.DispatchHandler, proxy: Proxy, host: string) {
    this.#handler = handler;
    this.#proxy = proxy;
    this.#host = host;
  }

  onRequestStart(...[controller, context]: Parameters<Handler['onRequestStart']>): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(...[controller, status, headers, message]: Parameters<Handler['onResponseStart']>): void {
    const header = (name: string): string => String(headers[name] ?? '');
    const error = header('x-squid-error');
    const isOwn =
      status === 407 || (status === 403 && (error !== '' || proxyPrograms.test(header('server'))));
    // The request never reached the service.
    const isUnreached = status >= 500 && /^ERR_(?:CONNECT_FAIL|DNS_FAIL|CANNOT_FORWARD)\b/.test(error);
    if (isOwn || isUnreached)
      controller.abort(proxyRefusal(this.#proxy, this.#host, status, header('proxy-authenticate')));
    else this.#handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(...[controller, chunk]: Parameters<Handler['onResponseData']>): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(...[controller, trailers]: Parameters<Handler['onResponseEnd']>): void {
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(...[controller, error]: Parameters<Handler['onResponseError']>): void {
    this.#handler.onResponseError?.(controller, error);
  }
}
