// Sends one request with node's fetch: arguments URL, key as it goes on the wire, body. Prints the answer as JSON.
const [url, key, body] = process.argv.slice(2);
const answer = await fetch(url, {
  method: 'POST',
  headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
  body,
});
console.log(JSON.stringify({
  status: answer.status,
  headers: [...answer.headers],
  body: await answer.text(),
}));
