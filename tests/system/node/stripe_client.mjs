// Creates payment intents with the stripe library: arguments PORT and a JSON list of { amount, key }, one call after the
// other in one process. Prints what each call resolved or rejected with. Without a key the library makes its own.
import Stripe from 'stripe';

const [port, calls] = process.argv.slice(2);
const stripe = new Stripe('sk_test_loopback', {
  host: '127.0.0.1',
  port: Number(port),
  protocol: 'http',
  maxNetworkRetries: Number(process.env.STRIPE_RETRIES ?? 0),
});

const results = [];
for (const { amount, key } of JSON.parse(calls)) {
  try {
    const intent = await stripe.paymentIntents.create({ amount, currency: 'eur' }, key ? { idempotencyKey: key } : {});
    results.push({
      resolved: true,
      id: intent.id,
      status: intent.lastResponse.statusCode,
      replayed: intent.lastResponse.headers['idempotent-replayed'] ?? null,
    });
  } catch (error) {
    results.push({
      resolved: false,
      type: error.type,
      status: error.statusCode,
      code: error.code,
      message: error.message,
    });
  }
}
console.log(JSON.stringify(results));
// The library leaves the bodies of answers that it retries unread; their connections would keep the process alive.
process.exit();
