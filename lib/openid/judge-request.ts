import type { Clients } from '../clients/client.ts';
import { type DocumentContext, findDocument, isDocumentUrl } from './client-documents.ts';
import { type JudgedRequest, judge, QUERY_CHARS_MAX } from './judge.ts';
import { readParameters } from './parameters.ts';

/**
 * Judges a request of a client of `CLIENTS`, or of one whose `client_id` is the URL of a document, which is fetched.
 * Throws what `spend` throws, which is called before a fetch.
 */
export async function judgeRequest(
  ctx: DocumentContext & { readonly clients: Clients },
  query: string,
  spend: () => void,
): Promise<JudgedRequest> {
  const { clients } = ctx;
  const { value, isTwice } = readParameters(query.length > QUERY_CHARS_MAX ? '' : query);
  const id = value('client_id');
  if (id === undefined || isTwice('client_id') || !isDocumentUrl(ctx, id)) return judge(clients, query);
  const found = await findDocument(ctx, clients, id, spend);
  if ('trouble' in found) return { fault: 'client_document', about: found.trouble };
  return judge(new Map([[id, found.value]]), query);
}
