// Which operations share a batch: one per record, bounds kept, order kept.
#include "store/batch_plan.hpp"

#include <catch2/catch.hpp>

namespace oncegate::store {
namespace {

struct Item {
    RecordId id{};
    std::size_t bytes = 1;
    int number = 0;
};

using Queue = std::deque<std::shared_ptr<Item>>;

RecordId id_of(std::uint8_t number) {
    RecordId id{};
    id[0] = number;
    return id;
}

/// A queue of operations on these records, numbered from 0.
Queue queue_of(std::initializer_list<std::uint8_t> records, std::size_t bytes = 1) {
    Queue queue;
    for (const auto record : records) {
        auto item = std::make_shared<Item>();
        item->id = id_of(record);
        item->bytes = bytes;
        item->number = static_cast<int>(queue.size());
        queue.push_back(std::move(item));
    }
    return queue;
}

template <class Items>
std::vector<int> numbers_of(const Items& items) {
    std::vector<int> numbers;
    for (const auto& item : items) numbers.push_back(item->number);
    return numbers;
}

using Numbers = std::vector<int>;

TEST_CASE("operations on different records share a batch in order") {
    auto queue = queue_of({1, 2, 3});
    CHECK(numbers_of(take_batch(queue, {}, BatchBounds{})) == Numbers{0, 1, 2});
    CHECK(queue.empty());
}

TEST_CASE("a record is named once in a batch and later operations on it keep their order") {
    auto queue = queue_of({1, 2, 1, 3, 1, 2});
    CHECK(numbers_of(take_batch(queue, {}, BatchBounds{})) == Numbers{0, 1, 3});
    CHECK(numbers_of(queue) == Numbers{2, 4, 5});
    CHECK(numbers_of(take_batch(queue, {}, BatchBounds{})) == Numbers{2, 5});
    CHECK(numbers_of(take_batch(queue, {}, BatchBounds{})) == Numbers{4});
    CHECK(queue.empty());
}

TEST_CASE("a record that another batch holds is passed over") {
    auto queue = queue_of({1, 2, 1, 3});
    const RecordIdSet busy = {id_of(1)};
    CHECK(numbers_of(take_batch(queue, busy, BatchBounds{})) == Numbers{1, 3});
    CHECK(numbers_of(queue) == Numbers{0, 2});
    CHECK(take_batch(queue, busy, BatchBounds{}).empty());
    CHECK(numbers_of(queue) == Numbers{0, 2});
}

TEST_CASE("the number of operations is bounded") {
    auto queue = queue_of({1, 2, 1, 3, 4});
    BatchBounds bounds;
    bounds.operations = 2;
    CHECK(numbers_of(take_batch(queue, {}, bounds)) == Numbers{0, 1});
    CHECK(numbers_of(queue) == Numbers{2, 3, 4});
}

TEST_CASE("the bytes are bounded and one operation always fits") {
    auto queue = queue_of({1, 2, 3, 4}, 10);
    BatchBounds bounds;
    bounds.bytes = 25;
    CHECK(numbers_of(take_batch(queue, {}, bounds)) == Numbers{0, 1});
    bounds.bytes = 5;
    CHECK(numbers_of(take_batch(queue, {}, bounds)) == Numbers{2});
    CHECK(numbers_of(take_batch(queue, {}, bounds)) == Numbers{3});
}

TEST_CASE("an operation that does not fit is not overtaken") {
    auto queue = queue_of({1, 2, 3}, 10);
    queue[1]->bytes = 100;
    BatchBounds bounds;
    bounds.bytes = 50;
    CHECK(numbers_of(take_batch(queue, {}, bounds)) == Numbers{0});
    CHECK(numbers_of(queue) == Numbers{1, 2});
}

TEST_CASE("an empty queue gives an empty batch") {
    Queue queue;
    CHECK(take_batch(queue, {}, BatchBounds{}).empty());
}

TEST_CASE("bodies count towards a batch's bytes") {
    Complete complete;
    const auto without = bytes_of(complete);
    auto response = std::make_shared<core::StoredResponse>();
    response->body.assign(1000, 'x');
    complete.response = response;
    CHECK(bytes_of(complete) == without + 1000);
    PutChunk chunk;
    chunk.bytes.assign(500, 'x');
    CHECK(bytes_of(chunk) == bytes_of(PutChunk{}) + 500);
}

TEST_CASE("every operation has a name and an id") {
    Hold hold;
    hold.id = id_of(7);
    Claim claim;
    claim.id = hold.id;
    const std::pair<Operation, std::string> expected[] = {
        {claim, "claim"},
        {Complete{hold, core::State::completed, nullptr, {}}, "complete"},
        {Release{hold}, "release"},
        {MarkUnknown{hold, {}}, "mark_unknown"},
        {Renew{hold}, "renew"},
        {PutChunk{hold, 0, {}}, "put_chunk"},
        {Lookup{hold.id}, "lookup"},
        {GetChunk{hold.id}, "get_chunk"},
    };
    for (const auto& [operation, name] : expected) {
        CHECK(name_of(operation) == name);
        CHECK(oncegate::store::id_of(operation) == hold.id);
    }
}

}  // namespace
}  // namespace oncegate::store
